use std::io::Write;
use std::path::Path;

use super::*;
use crate::common::{Scratch, fails, run, succeeds};

/// The text with its rows in other clothes gives the same jobs.
#[test]
fn clothes_do_not_matter() {
    let files = Scratch::new();
    let text = std::fs::read_to_string(HELIOS).unwrap();
    let plain = import(&["--format", "helios", HELIOS], &[]);
    let quoted = text.replace("u1,", "\"u1\",");
    for (name, other) in [
        ("bom", format!("\u{feff}{text}")),
        ("crlf", text.replace('\n', "\r\n")),
        ("cr", text.replace('\n', "\r")),
        ("no end", text.trim_end().to_owned()),
        ("blank lines", format!("\n{text}\n\n   \n\n")),
        ("quotes", quoted),
        ("spaces", text.replace(',', " , ")),
    ] {
        let imported = import(&["--format", "helios", &files.write("f.csv", other)], &[]);
        assert_eq!(imported.rows, plain.rows, "{name}");
        assert_eq!(imported.dropped(), plain.dropped(), "{name}");
        let shift = u64::from(name == "blank lines");
        assert_eq!(imported.lines("zero_gpus"), [5 + shift], "{name}");
    }
    let json = std::fs::read_to_string(PHILLY).unwrap();
    let plain = import(&["--format", "philly", PHILLY], &[]).rows;
    let one_line = json.replace('\n', "");
    for other in [format!("\u{feff}{json}"), json.replace('\n', "\r\n"), one_line] {
        assert_eq!(import(&["--format", "philly", &files.write("f.json", other)], &[]).rows, plain);
    }
}

#[test]
fn odd_values_are_counted_with_their_place() {
    let files = Scratch::new();
    let log = helios_rows(
        &files,
        &[
            "a,u,v,1,1,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-09 18:41:11,10,0",
            "b,u,v,1,1,1,COMPLETED,09/06/2020 18:41,2020-06-09 18:41:01,2020-06-09 18:41:11,10,0",
            "c,u,v,1,1,1,COMPLETED,2020-06-09T18:41:01Z,2020-06-09 18:41:01,2020-06-09 18:41:11,10,0",
            "d,u,v,1,1,1,COMPLETED,1591699261,,,10,0",
            "e,u,v,one,1,1,COMPLETED,2020-06-09 18:41:01,,,10,0",
            "f,u,v,10000000,1,1,COMPLETED,2020-06-09 18:41:01,,,10,0",
            "g,u,v,1,1,1,COMPLETED,2020-06-09 18:41:01,,,-3,0",
            "h,u,v,1,1,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:11,2020-06-09 18:41:01,10,0",
            "i,u,v,1,1",
            "j,u,v,1,1,1,COMPLETED,1965-06-09 18:41:01,,,inf,0",
            "k,u,v,1,1,1,COMPLETED,1965-06-09 18:41:01,,,1e99,0",
            "l,u,v,-2,1,1,COMPLETED,2020-06-09 18:41:01,,,10,0",
            ",u,v,1,1,1,COMPLETED,2020-06-09 18:41:01,,,10,0",
            "m,u,v,1,1,1,COMPLETED,2020-02-30 18:41:01,,,10,0",
            "n,u,v,1,1,1,COMPLETED,1965-06-09 18:41:01,,,10,0",
            "o,u,v,1,1,1,COMPLETED,,,,10,0",
            "p,u,v,1,1,1,COMPLETED,1965-06-09 18:41:01,,,,0",
        ],
    );
    let imported = import(&["--format", "helios", &log], &[]);
    assert_eq!(
        imported.dropped(),
        named(&[
            ("malformed", 1),
            ("no_id", 1),
            ("bad_date", 3),
            ("bad_number", 4),
            ("no_submit", 1),
            ("no_start", 1),
            ("too_many_gpus", 1),
            ("end_before_start", 1),
            ("negative_duration", 1),
        ])
    );
    assert_eq!(ids(&imported), ["n", "a", "c"]);
    assert_eq!(imported.lines("bad_date"), [3, 5, 15]);
    // 55 years and 14 leap days, before 1970 as after.
    assert_eq!(imported.rows[2], format!("a,{},,1,10,u,v,completed", (55 * 365 + 14) * 86_400));
    for says in [
        "line 3, column submit_time: found \"09/06/2020 18:41\"",
        "line 6, column gpu_num: found \"one\"",
        "line 7, 10000000 GPUs",
        "line 10, 5 fields, where the header has 12",
    ] {
        let account = imported.account.to_string();
        let (line, detail) = says.split_once(", ").unwrap();
        let line = line.strip_prefix("line ").unwrap();
        let place = format!("\"line\":{line},\"detail\":{}", serde_json::to_string(detail).unwrap());
        assert!(account.contains(&place), "{place} is not in {account}");
    }
}

#[test]
fn names_that_are_not_utf8() {
    let files = Scratch::new();
    let row = "1,u,v,1,1,1,FAILED,2020-06-09 18:41:01,,,5,0\n";
    let mut bytes = format!("{HELIOS_HEADER}{row}").into_bytes();
    let at = HELIOS_HEADER.len() + 2;
    bytes[at] = 0xfc;
    let imported = import(&["--format", "helios", &files.write("f.csv", &bytes)], &[]);
    assert_eq!(imported.rows[1], "1,0,,1,5,\u{fffd},v,failed");
    assert_eq!(imported.notices(), named(&[("not_utf8", 1)]));
    let mut json = std::fs::read(PHILLY).unwrap();
    let at = json.windows(4).position(|window| window == b"\"u1\"").unwrap();
    json[at + 1] = 0xfc;
    let imported = import(&["--format", "philly", &files.write("f.json", &json)], &[]);
    assert_eq!(imported.rows[1], "ok_1,0,,1,74,\u{fffd}1,vc1,completed");
}

#[test]
fn names_that_would_not_read_as_names() {
    let files = Scratch::new();
    let long = "x".repeat(300);
    let log = files.write(
        "f.csv",
        format!(
            "{HELIOS_HEADER}\"#1, \"\"a\"\"\",\"b\nc\",v,1,1,1,FAILED,2020-06-09 18:41:01,,,5,0\n\
             {long},u,v,1,1,1,FAILED,2020-06-09 18:41:01,,,5,0\n"
        ),
    );
    let out = files.write("out.csv", "");
    let said = succeeds(&["trace", "import", "--format", "helios", &log, "-o", &out]);
    assert!(
        said.contains("no_id") && said.contains("4 lines = 1 header + 2 rows + 1 comment, blank"),
        "{said}"
    );
    let text = std::fs::read_to_string(&out).unwrap();
    assert!(text.contains("\"#1, \"\"a\"\"\",0,,1,5,\"b\nc\",v,failed\n"), "{text}");
    let trace = aegis_sim::workload::Trace::open(&out).unwrap();
    assert_eq!(trace.jobs[0].job_id, "#1, \"a\"");
}

#[test]
fn files_that_are_cut_off_or_something_else() {
    let files = Scratch::new();
    let text = std::fs::read(HELIOS).unwrap();
    let json = std::fs::read(PHILLY).unwrap();
    let compressed = gzip(&text.repeat(100));
    let mut damaged = compressed.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 20].fill(0xff);
    let quote = [&text[..], b"x,\"y\n1,2\n"].concat();
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(text.iter().flat_map(|&byte| [byte, 0])).collect();
    for (format, bytes, says) in [
        ("helios", &compressed[..middle], "gzip stream ends early"),
        ("helios", &damaged, "gzip stream"),
        ("helios", &quote, "line 18: a double quote opens here and never closes"),
        ("helios", b"", "is empty: expected a header line"),
        ("helios", &utf16, "in UTF-16"),
        ("helios", b"PK\x03\x04abc", "a zip archive"),
        ("helios", &json, "the column job_id is missing"),
        ("helios", b"job_id,duration,gpu_num,state,submit_time,gpu_num\n", "the column gpu_num comes twice"),
        ("philly", &json[..json.len() / 2], "in the middle of the record that starts on line"),
        ("philly", &json[..json.len() - 1], "without the ] of its array"),
        ("philly", &gzip(&json)[..200], "gzip stream ends early"),
        ("philly", &text, "expected a JSON array of jobs"),
        ("swf", &text, "no job is left of"),
        ("aegis", &text, "the column submit_time_s is missing"),
    ] {
        let name = files.write("f", bytes);
        let out = files.path("out.csv");
        let (code, _, stderr) =
            run(&["trace", "import", "--format", format, &name, "-o", out.to_str().unwrap()]);
        assert_eq!(code, 2, "{format}: {stderr}");
        assert!(stderr.contains(says), "{format}: {stderr:?} does not say {says:?}");
        assert!(!out.exists() && files.files() == 1, "nothing is left behind");
    }
}

/// A gigabyte without a line end, out of some kilobytes: neither the table's reader nor that of JSON may hold it.
#[test]
fn a_gigabyte_on_one_line() {
    let files = Scratch::new();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let piece = vec![b'x'; 1 << 20];
    encoder.write_all(b"{\"a\": \"").unwrap();
    for _ in 0..1024 {
        encoder.write_all(&piece).unwrap();
    }
    let log = files.write("f.gz", encoder.finish().unwrap());
    for (format, says) in
        [("helios", "longer than 1 MiB"), ("swf", "longer than 1 MiB"), ("philly", "more than 4 MiB")]
    {
        fails(2, &["trace", "import", "--format", format, &log, "-o", "-"], &["line 1", says]);
    }
    // Jobs of a log that is all on one line are read one by one.
    let record = |i: usize| {
        format!(
            r#"{{"status":"Pass","vc":"v","jobid":"{i}","attempts":[{{"start_time":"2017-10-07 01:12:09","end_time":"2017-10-07 01:13:23","detail":[{{"ip":"m1","gpus":["gpu0"]}}]}}],"submitted_time":"2017-10-07 01:11:39","user":"u"}}"#
        )
    };
    let json = (0..20_000).map(record).collect::<Vec<_>>().join(",");
    let log = files.write("f.json", format!("[{json}]"));
    assert!(Path::new(&log).metadata().unwrap().len() > 4 << 20);
    assert_eq!(import(&["--format", "philly", &log], &[]).account["kept"], 20_000);
}
