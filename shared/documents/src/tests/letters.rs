//! Mail, whole.

use super::*;
use crate::MediaType;
use anchorage_domain::SkipReason;

/// Bytes as a part of a message carries them.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |group: &[u8]| {
        let bits = group.iter().chain([&0; 2]).take(3).fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte));
        let digit = |n: usize| if n <= group.len() { char::from(DIGITS[bits >> (18 - 6 * n) & 63]) } else { '=' };
        (0..4).map(digit).collect::<String>()
    };
    let lines: Vec<_> = bytes.chunks(57).map(|line| line.chunks(3).map(group).collect::<String>()).collect();
    lines.join("\r\n")
}

fn multipart(kind: &str, parts: &[String]) -> String {
    let border = format!("=_{}_{}", kind.replace(';', "_"), parts.concat().len());
    let parts: Vec<_> = parts.iter().map(|part| format!("--{border}\r\n{part}\r\n")).collect();
    format!("Content-Type: multipart/{kind}; boundary=\"{border}\"\r\n\r\n{}--{border}--\r\n", parts.concat())
}

fn attached(name: &str, kind: &str, bytes: &[u8]) -> String {
    format!(
        "Content-Type: {kind}; name=\"{name}\"\r\nContent-Disposition: attachment; filename=\"{name}\"\r\n\
         Content-Transfer-Encoding: base64\r\n\r\n{}\r\n",
        base64(bytes)
    )
}

fn message(head: &str, body: &str) -> Vec<u8> {
    format!("From: =?UTF-8?B?2LPYp9ix2Kc=?= <sara@example.org>\r\nTo: a@b.c, \"B, Bo\" <b@b.c>\r\nMIME-Version: 1.0\r\n{head}{body}")
        .into_bytes()
}

#[test]
fn mail_shows_who_when_and_what_in_their_own_letters() {
    let bytes = message(
        "Subject: =?utf-8?Q?Gi=C3=A1_m=E1=BB=9Bi?=\r\nDate: Tue, 5 Mar 2024 10:30:00 +0330\r\n",
        "Content-Type: text/plain; charset=windows-1256\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n\
         =D3=E1=C7=E3=\r\n!\r\n\r\nBye.\r\n",
    );
    let document = named(&bytes, "a.txt").unwrap();
    assert_eq!((document.media_type, document.title.as_deref()), (MediaType::Mail, Some("Giá mới")));
    assert_eq!(
        document.source_text,
        "Giá mới\n\nFrom: سارا <sara@example.org>\nTo: a@b.c, B, Bo <b@b.c>\nDate: 2024-03-05T10:30:00+03:30\n\nسلام!\n\nBye."
    );
    assert_eq!(document.chunks[0].heading_path, ["Giá mới"]);
}

#[test]
fn mail_takes_the_text_and_where_it_is_blank_the_page() {
    let page = "Content-Type: text/html\r\n\r\n<h1>Offer</h1><table><tr><th>a<th>b<tr><td>1<td>2</table>";
    for (text, expected) in [("as text", "as text"), (" ", "Offer a | b a: 1 / b: 2")] {
        let body = multipart("alternative", &[format!("Content-Type: text/plain\r\n\r\n{text}"), page.into()]);
        let document = named(&message("", &body), "a.eml").unwrap();
        let body = document.source_text.split_once("b@b.c>").unwrap().1;
        assert_eq!(body.split_whitespace().collect::<Vec<_>>().join(" "), expected);
        assert!(document.coverage.skipped.is_empty(), "{:?}", document.coverage.skipped);
    }
}

#[test]
fn mail_opens_attachments_that_can_be_read_and_names_the_others() {
    let inner = message("Subject: inner\r\n", "\r\nForwarded words.");
    let picture = b"\x89PNG\r\n\x1a\n\0\0\0\0";
    let body = multipart(
        "mixed",
        &[
            "Content-Type: text/plain\r\n\r\nSee below.".into(),
            attached("table.csv", "text/csv", b"id,name\n1,x\n"),
            attached("letter.docx", "application/octet-stream", &docx(&paragraph("Dear all."))),
            attached("photo.png", "image/png", picture),
            format!("Content-Type: message/rfc822\r\n\r\n{}", String::from_utf8(inner).unwrap()),
            attached("half.docx", "application/octet-stream", &docx(&paragraph("x"))[..200]),
        ],
    );
    let document = named(&message("Subject: outer\r\n", &body), "a.eml").unwrap();
    let found: Vec<_> = document
        .chunks
        .iter()
        .map(|chunk| (chunk.heading_path.join("/"), chunk.text.lines().last().unwrap()))
        .collect();
    let found: Vec<_> = found.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    assert_eq!(
        found,
        [
            ("outer", "See below."),
            ("outer/table.csv", "id: 1 / name: x"),
            ("outer/letter.docx", "Dear all."),
            ("outer/attachment 4/inner", "Forwarded words."),
        ]
    );
    let skipped: Vec<_> = document.coverage.skipped.iter().map(|s| (s.what.as_str(), s.reason)).collect();
    assert_eq!(skipped, [("photo.png", SkipReason::Unsupported), ("half.docx", SkipReason::Unreadable)]);
    assert!(document.coverage.partial);
}

/// Messages in messages: opened to a depth, and each level shares the bounds of the one above.
#[test]
fn mail_in_mail_is_opened_to_a_depth_and_named_past_it() {
    let mut bytes = message("Subject: m0\r\n", "\r\nwords 0");
    for level in 1..8 {
        let text = format!("Content-Type: text/plain\r\n\r\nwords {level}");
        let body = multipart("mixed", &[text, attached("inner.eml", "application/octet-stream", &bytes)]);
        bytes = message(&format!("Subject: m{level}\r\n"), &body);
    }
    let document = named(&bytes, "a.eml").unwrap();
    let words: Vec<_> = document.source_text.split("words ").skip(1).map(|text| &text[..1]).collect();
    assert_eq!(words, ["7", "6", "5", "4"]);
    assert_eq!(document.coverage.skipped.last().unwrap().reason, SkipReason::Unsupported);
}

/// Bombs do not add up: every attachment has its share of what the message may inflate to.
#[test]
fn mail_of_many_bombs_reads_none_of_them() {
    let bomb = docx(&(" ".repeat(2 << 20) + &paragraph("boom")));
    let parts: Vec<_> = (0..40).map(|n| attached(&format!("{n}.docx"), "application/octet-stream", &bomb)).collect();
    let limits = Limits { max_inflated_bytes: 32 << 20, ..Limits::default() };
    let bytes = message("Subject: x\r\n", &multipart("mixed", &parts));
    let document = parse_and_chunk(&bytes, &MediaHint::default(), ChunkingPolicy::default(), &limits).unwrap();
    assert!(!document.source_text.contains("boom"));
    assert_eq!(document.coverage.skipped.len(), 40);
}

/// Parts in parts, and borders that never come, cost no stack and no time.
#[test]
fn mail_nested_without_end_is_read_or_refused() {
    let nest = |open: &str, count: usize| message("Subject: x\r\n", &format!("{}words", open.repeat(count)));
    let open = "Content-Type: message/rfc822\r\n\r\nSubject: y\r\n";
    assert_eq!(code(&named(&nest(open, 50_000), "a.eml").unwrap_err()), "parse_failed");
    assert!(named(&nest(open, 300), "a.eml").unwrap().source_text.contains('y'));
    let unending = "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n";
    assert_eq!(code(&named(&nest(unending, 50_000), "a.eml").unwrap_err()), "parse_failed");
    let _ = named(&nest(unending, 500), "a.eml");
}
