// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Gateway
import GatewayCore
import Logging

/// By what a gateway's process tells people, monitoring and the service manager; there before anything is opened.
struct ProcessOutlets: Sendable {
    /// The writer of the log.
    let output: LogOutput
    let metrics: MetricRegistry
    /// The service manager that started the process.
    let manager: ServiceManager
    let logger: Logger
}
