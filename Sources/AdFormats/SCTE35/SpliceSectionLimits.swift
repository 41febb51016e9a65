// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The bounds of a splice information section and of its text forms.
public enum SpliceSectionLimits {
    /// The largest `section_length`: bytes after that field (SCTE 35 section 9.6.1).
    public static let sectionLengthMax = 4_093
    /// The largest section in bytes, from `table_id` to `CRC_32`.
    public static let sectionBytesMax = sectionLengthMax + 3
    /// The largest `descriptor_length`: bytes of a descriptor after that field (section 10.2.1).
    public static let descriptorLengthMax = 254
    /// The largest text (base64, hexadecimal or XML) that is read, in bytes of UTF-8.
    public static let textBytesMax = 65_536
    /// The most XML elements in a text.
    public static let xmlElementsMax = 2_048
    /// The deepest nesting of XML elements in a text.
    public static let xmlDepthMax = 16
}
