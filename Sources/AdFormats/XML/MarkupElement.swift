// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// One element of an XML document, with everything in it.
struct MarkupElement: Equatable, Sendable {
    /// One attribute of an element.
    struct Attribute: Equatable, Sendable {
        /// The name with its prefix, as written.
        let name: String
        /// The value, with references replaced and each white-space character turned into a space.
        let value: String
    }

    /// The name without its prefix.
    let name: String
    /// The namespace; empty for none.
    ///
    /// An element whose prefix is not declared has the prefix and a colon instead.
    let namespace: String
    /// The attributes, in document order; their names differ.
    let attributes: [Attribute]
    /// The line on which the element begins, counted from 1.
    let line: Int
    /// All the text directly in the element, CDATA sections included.
    var text = ""
    /// The elements directly in the element, in document order.
    var children: [MarkupElement] = []
}
