// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// An ordered map whose copies are cheap and share what they have in common: a B-tree with copy on write.
///
/// Every change and every search costs the logarithm of its size, even while copies of it are held.
struct SortedTree<Key: Comparable & Hashable & Sendable, Value: Hashable & Sendable>: Sendable {
    /// The most keys of a node.
    private static var keysMax: Int { 32 }

    /// A leaf with keys and values, or an inner node with children and the smallest key of each.
    ///
    /// Safety: a node is changed only through a reference that is known to be the only one; shared nodes are constants.
    private final class Node: @unchecked Sendable {
        // Safety: only a tree that holds the one reference changes a node, and a tree is a value, whose accesses the compiler keeps apart.
        // Checked once more at each access, an update of a break takes a sixth longer.
        @safe @exclusivity(unchecked) var keys: [Key]
        @safe @exclusivity(unchecked) var values: [Value]
        @safe @exclusivity(unchecked) var children: [Node]
        /// How many keys the leaves below have.
        @safe @exclusivity(unchecked) var count: Int

        init(keys: [Key], values: [Value], children: [Node], count: Int) {
            self.keys = keys
            self.values = values
            self.children = children
            self.count = count
        }

        var isLeaf: Bool { self.children.isEmpty }

        func copy() -> Node {
            Node(keys: self.keys, values: self.values, children: self.children, count: self.count)
        }

        /// The index of the first key that is not before `key`.
        func lowerBound(_ key: Key) -> Int {
            var (low, high) = (0, self.keys.count)
            while low < high {
                let middle = (low + high) / 2
                if self.keys[middle] < key { low = middle + 1 } else { high = middle }
            }
            return low
        }

        /// The index of the child that has `key`, if any has it.
        func child(of key: Key) -> Int {
            let index = self.lowerBound(key)
            return index < self.keys.count && self.keys[index] == key ? index : max(0, index - 1)
        }
    }

    private var root: Node?

    init() {}

    /// How many keys there are.
    var count: Int { self.root?.count ?? 0 }
    var isEmpty: Bool { self.root == nil }

    subscript(key: Key) -> Value? {
        guard var node = self.root else { return nil }
        while !node.isLeaf { node = node.children[node.child(of: key)] }
        let index = node.lowerBound(key)
        return index < node.keys.count && node.keys[index] == key ? node.values[index] : nil
    }

    func contains(_ key: Key) -> Bool { self[key] != nil }

    /// The smallest key.
    var first: (key: Key, value: Value)? {
        guard var node = self.root else { return nil }
        while let child = node.children.first { node = child }
        return (node.keys[0], node.values[0])
    }

    /// Visits keys in ascending order until `body` says `false`.
    ///
    /// - Parameters:
    ///   - start: the first key to visit; `nil`: the smallest that there is.
    ///   - body: says whether to go on.
    func scan(from start: Key? = nil, _ body: (Key, Value) -> Bool) {
        if let root = self.root { _ = Self.scan(root, from: start, body) }
    }

    private static func scan(_ node: Node, from start: Key?, _ body: (Key, Value) -> Bool) -> Bool {
        guard node.isLeaf else {
            let first = start.map { node.child(of: $0) } ?? 0
            for index in first..<node.children.count {
                guard Self.scan(node.children[index], from: index == first ? start : nil, body) else { return false }
            }
            return true
        }
        for index in (start.map { node.lowerBound($0) } ?? 0)..<node.keys.count {
            guard body(node.keys[index], node.values[index]) else { return false }
        }
        return true
    }

    /// Visits keys in descending order, from the largest on, until `body` says `false`.
    func scanBackwards(_ body: (Key, Value) -> Bool) {
        if let root = self.root { _ = Self.scanBackwards(root, body) }
    }

    private static func scanBackwards(_ node: Node, _ body: (Key, Value) -> Bool) -> Bool {
        guard node.isLeaf else {
            for child in node.children.reversed() {
                guard Self.scanBackwards(child, body) else { return false }
            }
            return true
        }
        for index in node.keys.indices.reversed() {
            guard body(node.keys[index], node.values[index]) else { return false }
        }
        return true
    }

    /// All keys with their values, in ascending order.
    var elements: [(key: Key, value: Value)] {
        var elements: [(key: Key, value: Value)] = []
        elements.reserveCapacity(self.count)
        self.scan { key, value in
            elements.append((key, value))
            return true
        }
        return elements
    }
}

// Changes. On the way down every node is made ours alone.
extension SortedTree {
    /// - Returns: the value that the key had.
    @discardableResult
    mutating func updateValue(_ value: Value, forKey key: Key) -> Value? {
        guard self.root != nil else {
            self.root = Node(keys: [key], values: [value], children: [], count: 1)
            return nil
        }
        let root = self.ownRoot()
        let old = Self.update(root, key, value)
        if root.keys.count > Self.keysMax {
            let right = Self.split(root)
            self.root = Node(
                keys: [root.keys[0], right.keys[0]],
                values: [],
                children: [root, right],
                count: root.count + right.count
            )
        }
        return old
    }

    /// - Returns: the value that the key had.
    @discardableResult
    mutating func removeValue(forKey key: Key) -> Value? {
        // Nothing is copied for a key that is not there.
        guard self.contains(key) else { return nil }
        let root = self.ownRoot()
        let old = Self.remove(root, key)
        if root.keys.isEmpty {
            self.root = nil
        } else if root.children.count == 1 {
            self.root = root.children[0]
        }
        return old
    }

    private mutating func ownRoot() -> Node {
        if !isKnownUniquelyReferenced(&self.root), let root = self.root { self.root = root.copy() }
        guard let root = self.root else { preconditionFailure("an empty tree has no root") }
        return root
    }

    private static func own(_ node: Node, child index: Int) -> Node {
        if !isKnownUniquelyReferenced(&node.children[index]) { node.children[index] = node.children[index].copy() }
        return node.children[index]
    }

    private static func update(_ node: Node, _ key: Key, _ value: Value) -> Value? {
        guard node.isLeaf else {
            let index = node.child(of: key)
            let child = Self.own(node, child: index)
            let old = Self.update(child, key, value)
            if old == nil { node.count += 1 }
            node.keys[index] = child.keys[0]
            if child.keys.count > Self.keysMax {
                let right = Self.split(child)
                node.keys.insert(right.keys[0], at: index + 1)
                node.children.insert(right, at: index + 1)
            }
            return old
        }
        let index = node.lowerBound(key)
        if index < node.keys.count, node.keys[index] == key {
            let old = node.values[index]
            node.values[index] = value
            return old
        }
        node.keys.insert(key, at: index)
        node.values.insert(value, at: index)
        node.count += 1
        return nil
    }

    /// Takes the upper half of a node that is too full.
    private static func split(_ node: Node) -> Node {
        let middle = node.keys.count / 2
        let right = Node(
            keys: Array(node.keys[middle...]),
            values: node.isLeaf ? Array(node.values[middle...]) : [],
            children: node.isLeaf ? [] : Array(node.children[middle...]),
            count: 0
        )
        right.count = right.isLeaf ? right.keys.count : right.children.reduce(0) { $0 + $1.count }
        node.count -= right.count
        node.keys.removeSubrange(middle...)
        if node.isLeaf { node.values.removeSubrange(middle...) } else { node.children.removeSubrange(middle...) }
        return right
    }

    /// Removes a key that is there.
    private static func remove(_ node: Node, _ key: Key) -> Value? {
        node.count -= 1
        guard node.isLeaf else {
            let index = node.child(of: key)
            let child = Self.own(node, child: index)
            let old = Self.remove(child, key)
            if child.keys.isEmpty {
                node.keys.remove(at: index)
                node.children.remove(at: index)
            } else {
                node.keys[index] = child.keys[0]
                Self.mergeIfSmall(node, child: index)
            }
            return old
        }
        let index = node.lowerBound(key)
        node.keys.remove(at: index)
        return node.values.remove(at: index)
    }

    /// Joins a child that has become small with the one beside it, where both fit into one.
    private static func mergeIfSmall(_ node: Node, child index: Int) {
        guard node.children[index].keys.count < Self.keysMax / 4, node.children.count > 1 else { return }
        let left = index > 0 ? index - 1 : 0
        guard node.children[left].keys.count + node.children[left + 1].keys.count <= Self.keysMax * 3 / 4 else {
            return
        }
        let (one, other) = (Self.own(node, child: left), node.children[left + 1])
        one.keys += other.keys
        one.values += other.values
        one.children += other.children
        one.count += other.count
        node.keys.remove(at: left + 1)
        node.children.remove(at: left + 1)
    }
}

extension SortedTree: Hashable {
    static func == (left: Self, right: Self) -> Bool {
        guard left.root !== right.root else { return true }
        guard left.count == right.count else { return false }
        return left.elements.elementsEqual(right.elements) { $0.key == $1.key && $0.value == $1.value }
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(self.count)
        if let first = self.first {
            hasher.combine(first.key)
            hasher.combine(first.value)
        }
    }
}

/// The value of a tree that is only a set of its keys.
struct Present: Hashable, Sendable {}
