// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(Network)
@_spi(Transports) internal import Cuecast
internal import Dispatch
internal import Network
internal import Synchronization

/// Tells of the paths that the system has to the network (`NWPathMonitor`).
final class NetworkPathWatch: NetworkWatch {
    /// The properties that distinguish paths: a phone that leaves its Wi-Fi has a network before and after.
    private struct Path: Hashable {
        let isAvailable: Bool
        let interfaces: [String]
    }

    private final class LastPath: Sendable {
        let path = Mutex<Path?>(nil)
    }

    private let monitor = NWPathMonitor()

    init(changed: @escaping @Sendable (Bool) -> Void) {
        let last = LastPath()
        self.monitor.pathUpdateHandler = { update in
            let path = Path(
                isAvailable: update.status == .satisfied,
                interfaces: update.availableInterfaces.map(\.name)
            )
            let isNew = last.path.withLock { last in
                defer { last = path }
                // The first one is how it is, which is news only where there is no network.
                return last.map { $0 != path } ?? !path.isAvailable
            }
            if isNew { changed(path.isAvailable) }
        }
        self.monitor.start(queue: DispatchQueue(label: "cuecast.network"))
    }

    func end() { self.monitor.cancel() }
}
#endif
