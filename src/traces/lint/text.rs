//! What is to be seen before a file is taken apart.

use std::borrow::Cow;

use super::code::Code;
use super::problem::Problems;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// How files start that are no text in UTF-8, what they are, and what helps.
const OTHERS: [(&[u8], &str, &str); 5] = [
    (b"\x1f\x8b", "compressed with gzip", "unpack it first: zcat FILE | aegis-sim trace lint -"),
    (b"BZh", "compressed with bzip2", "unpack it first: bzcat FILE | aegis-sim trace lint -"),
    (b"PK\x03\x04", "a ZIP archive or a spreadsheet", "unpack it, or export the sheet as CSV in UTF-8"),
    (b"\xff\xfe", "text in UTF-16", "save it as CSV in UTF-8"),
    (b"\xfe\xff", "text in UTF-16", "save it as CSV in UTF-8"),
];

/// The text without its byte-order mark, with U+FFFD in place of what is none; `None` for other kinds of files.
pub(super) fn text<'a>(bytes: &'a [u8], problems: &mut Problems) -> Option<Cow<'a, str>> {
    if let Some((_, what, fix)) = OTHERS.iter().find(|(start, ..)| bytes.starts_with(start)) {
        problems.add(Code::NotUtf8, None, None, || format!("the file is {what}"));
        if let Some(problem) = problems.get_mut(Code::NotUtf8) {
            problem.fix = (*fix).to_owned();
        }
        return None;
    }
    let rest = bytes.strip_prefix(BYTE_ORDER_MARK);
    if rest.is_some() {
        let message = || "the file starts with a byte-order mark".to_owned();
        problems.add(Code::ByteOrderMark, Some(1), None, message);
    }
    let bytes = rest.unwrap_or(bytes);
    // UTF-8 has no line end within a character, so that each line is sound or not by itself.
    let lines = || (1..).zip(bytes.split(|&byte| byte == b'\n'));
    let text = String::from_utf8_lossy(bytes);
    if matches!(text, Cow::Owned(_)) {
        for (line, bytes) in lines() {
            if let Err(error) = std::str::from_utf8(bytes) {
                let at = error.valid_up_to();
                let message = || format!("found the byte 0x{:02x}, character {}", bytes[at], at + 1);
                problems.add(Code::NotUtf8, Some(line), None, message);
            }
        }
    }
    for (byte, code, message) in [
        (0, Code::NulByte, "found a NUL byte"),
        (b'\r', Code::CrLf, "the line ends in CR and LF, or has a CR in it"),
    ] {
        if bytes.contains(&byte) {
            for (line, _) in lines().filter(|(_, bytes)| bytes.contains(&byte)) {
                problems.add(code, Some(line), None, || message.to_owned());
            }
        }
    }
    if !bytes.is_empty() && !bytes.ends_with(b"\n") && !bytes.ends_with(b"\r") {
        let last = lines().count() as u64;
        let message = || "the file ends within a line".to_owned();
        problems.add(Code::NoFinalNewline, Some(last), None, message);
    }
    Some(text)
}
