// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

extension VAST {
    /// The MIME types of media and pictures by the end of their files' names, in lower case.
    static let typesByEnding: [String: String] = [
        "mp3": "audio/mpeg", "aac": "audio/aac", "m4a": "audio/mp4", "ogg": "audio/ogg", "oga": "audio/ogg",
        "opus": "audio/ogg", "flac": "audio/flac", "wav": "audio/wav", "mp4": "video/mp4", "m4v": "video/mp4",
        "webm": "video/webm", "mov": "video/quicktime", "m3u8": "application/vnd.apple.mpegurl",
        "mpd": "application/dash+xml", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg",
        "gif": "image/gif", "webp": "image/webp", "svg": "image/svg+xml", "avif": "image/avif",
    ]

    /// Names that are in use for types and are registered for none, with the type that they mean.
    static let misspelledTypes: [String: String] = [
        "image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/x-png": "image/png",
        "image/svg": "image/svg+xml",
        "audio/mp3": "audio/mpeg", "audio/x-mp3": "audio/mpeg", "audio/x-mpeg": "audio/mpeg",
        "audio/x-wav": "audio/wav",
        "video/x-mp4": "video/mp4", "video/x-m4v": "video/mp4",
    ]
}
