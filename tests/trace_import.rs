//! `trace import`: published formats, what becomes of odd rows, and messy files.

mod common;

use std::io::Write;
use std::path::Path;

use common::{Scratch, aegis_sim, fails, run, succeeds};
use serde_json::Value;

/// The rows of the trace without its comments, what was said, and the account.
struct Imported {
    rows: Vec<String>,
    comments: String,
    said: String,
    account: Value,
}

impl Imported {
    fn dropped(&self) -> Vec<(String, u64)> {
        counts(&self.account["dropped"])
    }

    fn notices(&self) -> Vec<(String, u64)> {
        counts(&self.account["notices"])
    }

    /// Lines of the rows that were dropped for a reason, or that a note is about.
    fn lines(&self, code: &str) -> Vec<u64> {
        let lists = ["dropped", "notices"].map(|list| self.account[list].as_array().unwrap().clone());
        let entry = lists.into_iter().flatten().find(|entry| entry["code"] == code);
        let places = entry.map(|entry| entry["first"].as_array().unwrap().clone()).unwrap_or_default();
        places.iter().map(|place| place["line"].as_u64().unwrap()).collect()
    }
}

fn counts(list: &Value) -> Vec<(String, u64)> {
    let entries = list.as_array().unwrap().iter();
    entries
        .map(|entry| (entry["code"].as_str().unwrap().to_owned(), entry["count"].as_u64().unwrap()))
        .collect()
}

fn named(pairs: &[(&str, u64)]) -> Vec<(String, u64)> {
    pairs.iter().map(|&(code, count)| (code.to_owned(), count)).collect()
}

#[track_caller]
fn import(inputs: &[&str], options: &[&str]) -> Imported {
    let files = Scratch::new();

    let (out, report) = (files.text("out.csv"), files.text("report.json"));
    let mut args = vec!["trace", "import"];
    args.extend(inputs);
    args.extend(options);
    args.extend(["-o", &out, "--report", &report]);
    let said = succeeds(&args);
    let text = files.read("out.csv");
    let account: Value = serde_json::from_str(&files.read("report.json")).unwrap();
    let dropped: u64 = counts(&account["dropped"]).iter().map(|(_, count)| count).sum();
    let [read, kept] = ["rows_read", "kept"].map(|key| account[key].as_u64().unwrap());
    assert_eq!(read, kept + dropped, "the account adds up");
    for file in account["files"].as_array().unwrap().iter().filter(|file| !file["other_lines"].is_null()) {
        let [lines, header, rows, other] =
            ["lines", "header_lines", "rows", "other_lines"].map(|key| file[key].as_u64().unwrap());
        assert_eq!(lines, header + rows + other, "so do the lines");
    }
    let (comments, rows): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("# "));
    let rows: Vec<String> = rows.into_iter().map(str::to_owned).collect();
    assert_eq!(rows.len() as u64, kept + 1);
    Imported { rows, comments: comments.join("\n"), said, account }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const HELIOS: &str = "examples/logs/helios.csv";
const PHILLY: &str = "examples/logs/philly.json";
const HELIOS_HEADER: &str =
    "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n";

fn ids(imported: &Imported) -> Vec<&str> {
    imported.rows[1..].iter().map(|row| row.split(',').next().unwrap()).collect()
}

#[test]
fn helios() {
    let imported = import(&["--format", "helios", HELIOS], &[]);
    assert_eq!(imported.dropped(), named(&[("not_final", 2), ("zero_gpus", 1), ("zero_duration", 1)]));
    assert_eq!(imported.notices(), named(&[("duration_disagrees", 1), ("out_of_order", 2)]));
    assert_eq!([imported.lines("zero_gpus"), imported.lines("not_final")], [vec![5], vec![9, 10]]);
    // Sorted by submission; of those submitted in one second, in the log's order.
    assert_eq!(
        ids(&imported),
        [
            "9011", "9012", "1425511", "1425512", "1425513", "9003", "9004", "9007", "9008", "9009", "9010",
            "9002"
        ]
    );
    // 81 days less 18 minutes and 59 s, in a zone without daylight saving.
    assert_eq!(imported.rows[3], "1425511,6997261,,1,36848,uXBbc,vcJkd,completed");
    assert!(
        imported.comments.contains("submit_s 0 is 2020-03-20T19:00:00+08:00[Asia/Shanghai]"),
        "{}",
        imported.comments
    );
    assert!(imported.said.contains("17 lines = 1 header + 16 rows"), "{}", imported.said);
}

#[test]
fn philly_attempts() {
    let row = |imported: &Imported, id: &str| {
        imported.rows.iter().find(|row| row.starts_with(id)).unwrap_or_else(|| panic!("no {id}")).clone()
    };
    let sum = import(&["--format", "philly", PHILLY], &[]);
    assert_eq!(
        sum.dropped(),
        named(&[
            ("no_submit", 1),
            ("no_attempt", 1),
            ("no_start", 1),
            ("no_end", 2),
            ("zero_gpus", 1),
            ("end_before_start", 1),
            ("zero_duration", 1),
            ("duplicate_id", 1),
        ])
    );
    assert_eq!(
        sum.notices(),
        named(&[("dst_fold", 1), ("start_before_submit", 1), ("gpus_change", 1), ("out_of_order", 4)])
    );
    assert_eq!(sum.lines("duplicate_id"), [333]);
    assert_eq!(row(&sum, "status_case_14"), "status_case_14,7701,,1,60,u1,vc1,completed");
    // The clock goes back from 2:00 to 1:00: from 0:31 to 1:15, and from 1:50 to 1:10 of the second time.
    assert_eq!(row(&sum, "dst_11,"), "dst_11,2503101,,1,3840,u1,vc1,completed");
    for (mode, retry, change) in [
        ("first", "8,74", "12,600"),
        ("last", "8,3600", "8,600"),
        ("sum", "8,3674", "8,1200"),
        ("span", "8,3681", "8,1260"),
    ] {
        let imported = import(&["--format", "philly", PHILLY], &["--attempts", mode]);
        assert_eq!(row(&imported, "retry_2"), format!("retry_2,0,,{retry},u1,vc1,completed"), "{mode}");
        assert!(row(&imported, "gpus_change_9").contains(&format!(",,{change},")), "{mode}");
    }
    let each = import(&["--format", "philly", PHILLY], &["--attempts", "each"]);
    assert_eq!(each.account["rows_read"], 19);
    assert_eq!(row(&each, "retry_2/1"), "retry_2/1,0,,8,74,u1,vc1,failed");
    // Submitted when the first had ended.
    assert_eq!(row(&each, "retry_2/2"), "retry_2/2,104,,8,3600,u1,vc1,completed");
    let unzoned = import(&["--format", "philly", PHILLY], &["--timezone", "UTC"]);
    assert!(unzoned.dropped().contains(&("end_before_start".to_owned(), 2)), "without daylight saving");
}

#[test]
fn other_published_formats() {
    let acme = import(&["--format", "acme", "examples/logs/seren.csv"], &[]);
    assert_eq!(acme.dropped(), named(&[("no_start", 1), ("zero_gpus", 1)]));
    assert_eq!(acme.rows[3], "5778435,124,,32,21600,ud114,cancelled");
    let acme = import(&["--format", "acme", "examples/logs/kalos.csv"], &[]);
    assert_eq!(acme.rows[2], "dlc2,542,,16,1800,u1,failed");

    let pai = import(&["--format", "pai", "examples/logs/pai_no_estimate.csv"], &[]);
    assert_eq!(pai.rows[1..], ["91,0,,1,1200,0.25,user1", "92,30,,4,3600,0.5,user2", "93,60,,4,600,,user2"]);
    assert_eq!(pai.dropped(), named(&[("zero_gpus", 1), ("zero_duration", 1)]));
    let totals = import(&["--format", "pai", "examples/logs/pai_duration_estimate.csv"], &[]);
    assert_eq!(totals.rows[1..], pai.rows[1..], "totals per job, columns in another order");
    let whole =
        import(&["--format", "pai", "examples/logs/pai_no_estimate.csv"], &["--fractional-gpus", "round-up"]);
    assert_eq!(whole.rows[..2], ["job_id,submit_s,workload,gpus,duration_s,user", "91,0,,1,1200,user1"]);
    assert_eq!(whole.notices(), named(&[("rounded_up", 2)]));

    let openb = import(&["--format", "openb", "examples/logs/openb.csv"], &["--origin", "source"]);
    assert_eq!(
        openb.rows[1..],
        ["pod-1,200,,1,12537296,0.46,running", "pod-2,300,,1,590,,completed", "pod-3,400,,8,7195,,failed"]
    );
    assert_eq!(openb.dropped(), named(&[("no_start", 1), ("zero_gpus", 1)]));

    let swf = import(&["--format", "swf", "examples/logs/cluster.swf"], &[]);
    assert_eq!(
        swf.rows[1..],
        ["1,0,,2,3600,anna,night,completed", "2,10.5,,1,59.25,2,,failed", "3,20,,8,100,anna,night,cancelled"]
    );
    assert_eq!(swf.dropped(), named(&[("no_end", 1), ("zero_duration", 1)]));
    let dated = import(&["--format", "swf", "examples/logs/cluster.swf"], &["--origin", "source"]);
    assert!(dated.rows[1].starts_with("1,1600000000,,"), "{}", dated.rows[1]);

    let aegis = import(&["--format", "aegis", "examples/logs/aegis.csv"], &[]);
    assert_eq!(aegis.rows[1..], ["0,0,mnist_bs32_1gpu,1,", "1,12.5,xlnet_base_cased_wiki_bs8_2gpu,2,"]);
}

#[test]
fn any_table_by_its_columns() {
    let options = [
        "--map",
        "job_id=Job",
        "--map",
        "submit_s=Submitted",
        "--map",
        "gpus=GPUs",
        "--map",
        "duration_s=Minutes:min",
        "--map",
        "vc=Group",
        "--map",
        "state=Result",
        "--date-format",
        "%d.%m.%Y %H:%M",
        "--timezone",
        "Europe/Berlin",
    ];
    let imported = import(&["--format", "csv", "examples/logs/accounting.csv"], &options);
    assert_eq!(imported.rows[2], "102,120,,2,2730,,speech,ok");
    assert!(imported.said.contains("6 lines = 1 header + 4 rows + 1 comment"), "{}", imported.said);

    // As the Helios slices of other simulators are: microseconds, comments, no id.
    let files = Scratch::new();
    let log = files.write(
        "slice.csv",
        "# a slice\n# of Venus\nsubmit_time,num_chips,len\n5835000000,128,24.0\n5842000000,16,46520.0\n",
    );
    let map = [
        "--map",
        "submit_s=submit_time:us",
        "--map",
        "gpus=num_chips",
        "--map",
        "duration_s=len",
        "--comment",
        "#",
    ];
    let imported = import(&["--format", "csv", &log], &map);
    assert_eq!(imported.rows[1..], ["1,0,,128,24,", "2,7,,16,46520,"]);

    // Shares in thousandths, instances, and start and end in place of a duration.
    let log = files.write("s.csv", "t;a;b;n;milli\n0;10;70;2;250\n1;;;1;1000\n2;9;8;1;1000\n");
    let map = [
        "--delimiter",
        ";",
        "--map",
        "submit_s=t",
        "--map",
        "start_s=a",
        "--map",
        "end_s=b",
        "--map",
        "gpus=n",
        "--map",
        "gpu_share=milli:milli",
    ];
    let imported = import(&["--format", "csv", &log], &map);
    assert_eq!(imported.rows[1..], ["1,0,,2,60,0.25"]);
    assert_eq!(imported.dropped(), named(&[("no_start", 1), ("end_before_start", 1)]));

    for (map, says) in [
        ("submit=t", "unknown key \"submit\": did you mean submit_s"),
        ("submit_s", "expected KEY=COLUMN"),
        ("submit_s=t:weeks", "unknown unit \"weeks\""),
        ("duration_s=t:date", "a duration is no date"),
        ("gpus=n", "submit_s and gpus are needed"),
    ] {
        fails(2, &["trace", "import", "--format", "csv", &log, "-o", "-", "--map", map], &[says]);
    }
    let map = ["--map", "submit_s=T", "--map", "gpus=n", "--map", "duration_s=b"];
    let args = ["trace", "import", "--format", "csv", "--delimiter", ";", &log, "-o", "-"];
    fails(2, &[&args[..], &map].concat(), &["line 1: the column T is missing", "did you mean t?"]);
}

#[test]
fn its_own_format_comes_back_as_it_was() {
    let text = std::fs::read_to_string("traces/philly.csv").unwrap();
    let files = Scratch::new();
    let out = files.write("out.csv", "");
    succeeds(&["trace", "import", "--format", "csv", "traces/philly.csv", "-o", &out, "--origin", "source"]);
    let rows = |text: &str| -> Vec<String> {
        let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
        rows.map(|row| row.split(',').take(4).collect::<Vec<_>>().join(",")).collect()
    };
    assert_eq!(rows(&std::fs::read_to_string(&out).unwrap()), rows(&text));
    succeeds(&["run", "--trace", &out, "--policy", "exclusive"]);
}

#[test]
fn filters_and_samples() {
    let of = |options: &[&str]| import(&["--format", "helios", HELIOS], options);
    let kept = |options: &[&str]| ids(&of(options)).len();
    assert_eq!(kept(&["--vc", "vcJkd,vchbv"]), 2);
    assert_eq!(kept(&["--user", "u1"]), 9);
    assert_eq!(kept(&["--min-gpus", "4", "--max-gpus", "12"]), 2);
    assert_eq!(kept(&["--states", "Failed,NODE_FAIL"]), 2);
    assert_eq!(kept(&["--from", "2020-06-09", "--to", "2020-06-09 19:00:00"]), 4);
    let by_zone = ["--from", "2020-06-09T10:41:27Z", "--to", "2020-06-09 10:41:28Z"];
    assert_eq!(ids(&of(&by_zone)), ["1425512"]);
    let head = of(&["--head", "3"]);
    assert_eq!(
        (ids(&head), head.dropped().pop()),
        (vec!["9011", "9012", "1425511"], Some(("beyond_head".into(), 9)))
    );
    let sample = |seed: &str| ids(&of(&["--sample", "5", "--seed", seed])).join(" ");
    assert_eq!(sample("1"), sample("1"));
    assert_ne!(sample("1"), sample("2"));
    assert_eq!(sample("1").split(' ').count(), 5);
    let first = of(&["--sample", "5", "--seed", "1"]).rows[1].clone();
    assert_eq!(first.split(',').nth(1), Some("0"), "the first that is kept is at 0");
    assert!(of(&["--vc", "vcA"]).comments.contains("--vc vcA"));
    let args = |more: &[&'static str]| {
        [&["trace", "import", "--format", "helios", HELIOS, "-o", "-"], more].concat()
    };
    fails(2, &args(&["--vc", "vcZ"]), &["no job is left of 16 rows"]);
    fails(2, &args(&["--from", "yesterday"]), &["--from yesterday: expected a date"]);
    fails(2, &args(&["--from", "2020-07-01", "--to", "2020-06-01"]), &["--from is not before --to"]);
    fails(2, &args(&["--timezone", "Asia/Shanghia"]), &["did you mean", "Asia/Shanghai"]);
    fails(2, &args(&["--map", "gpus=x"]), &["--map is for --format csv"]);
}

#[test]
fn drops_are_errors_if_asked() {
    let files = Scratch::new();
    let out = files.path("out.csv");
    let args = ["trace", "import", "--format", "helios", HELIOS, "--strict", "-o", out.to_str().unwrap()];
    fails(2, &args, &["helios.csv, line 9", "4 of 16 rows would be dropped", "--strict"]);
    assert!(!out.exists());
    // What an option leaves out is no loss.
    let more = ["--max-gpus", "4", "--states", "completed,failed,cancelled", "--to", "2020-06-09 18:50:00"];
    fails(2, &[&args[..], &more].concat(), &["4 of 16"]);
    let clean = files.write("clean.csv", format!("{HELIOS_HEADER}1,u,v,1,1,1,FAILED,2020-06-09 18:41:01,,,5,0\n2,u,w,1,1,1,FAILED,2020-06-09 18:41:01,,,5,0\n"));
    assert_eq!(ids(&import(&["--format", "helios", &clean], &["--strict", "--vc", "v"])), ["1"]);
}

#[test]
fn jobs_too_large_for_a_cluster_are_counted() {
    let imported = import(&["--format", "helios", HELIOS], &["--cluster", "models/cluster.toml"]);
    assert_eq!(imported.notices()[2..], named(&[("larger_than_server", 3), ("larger_than_cluster", 3)]));
    assert_eq!(imported.lines("larger_than_server"), [3, 7, 8]);
}

#[test]
fn traces_without_workloads_are_not_run() {
    let files = Scratch::new();
    let out = files.write("out.csv", "");
    succeeds(&["trace", "import", "--format", "helios", HELIOS, "-o", &out]);
    fails(
        2,
        &["run", "--trace", &out, "--policy", "aegis"],
        &["column workload: blank", "aegis-sim trace map"],
    );
}

#[test]
fn compressed_piped_and_joined() {
    let files = Scratch::new();
    let text = std::fs::read(HELIOS).unwrap();
    let plain = import(&["--format", "helios", HELIOS], &[]).rows;
    // Two members, as `cat a.gz b.gz` makes them.
    let middle = text.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let compressed = [gzip(&text[..middle]), gzip(&text[middle..])].concat();
    let name = files.write("log.csv.gz", &compressed);
    assert_eq!(import(&["--format", "helios", &name], &[]).rows, plain);
    for bytes in [&text, &compressed] {
        let output = aegis_sim()
            .args(["trace", "import", "--format", "helios", "-", "-o", "-"])
            .write_stdin(bytes.clone())
            .output()
            .unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert_eq!(stdout.lines().filter(|line| !line.starts_with("# ")).collect::<Vec<_>>(), plain);
        assert!(String::from_utf8(output.stderr).unwrap().contains("kept"));
    }
    // One job of both files, columns in another order.
    let other = files.write(
        "b.csv",
        "state,job_id,duration,gpu_num,submit_time,extra\nFAILED,9012,7,1,2020-06-10 00:00:00,\"x,y\"\n\
         FAILED,new,8,1,2020-01-01 00:00:00,\n",
    );
    let both = import(&["--format", "helios", HELIOS, &other], &[]);
    assert_eq!(both.dropped().pop(), Some(("duplicate_id".to_owned(), 1)));
    assert_eq!(both.rows[1], "new,0,,1,8,,,failed");
    assert!(both.said.contains("b.csv, line 2"), "{}", both.said);
    let reversed = import(&["--format", "helios", &other, HELIOS], &[]);
    assert_eq!(reversed.lines("duplicate_id"), [17], "the first file's job is kept");
    assert_eq!(
        import(&["--format", "helios", HELIOS, HELIOS], &[]).dropped().pop(),
        Some(("duplicate_id".into(), 12))
    );
    fails(2, &["trace", "import", "--format", "helios", "-", "-", "-o", "x"], &["given twice"]);
    fails(2, &["trace", "import", "--format", "helios", &other, "-o", &other], &["is an input and --out"]);
    fails(2, &["trace", "import", "--format", "helios", "gone.csv", "-o", "-"], &["cannot read gone.csv"]);
}

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

/// A Helios log of these rows.
fn helios_rows(files: &Scratch, rows: &[&str]) -> String {
    files.write("rows.csv", format!("{HELIOS_HEADER}{}\n", rows.join("\n")))
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
        "line 7, column gpu_num: found \"10000000\"",
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
fn times_that_no_trace_can_hold() {
    let files = Scratch::new();
    let row = |date: &str| format!("{date},u,v,1,1,1,FAILED,{date} 00:00:00,,,5,0");
    let log = helios_rows(&files, &[&row("0001-01-01"), &row("2020-01-01"), &row("9000-01-01")]);
    let args = ["trace", "import", "--format", "helios", &log, "-o", "-"];
    fails(2, &args, &["line 4", "8998 years", "--from or --to"]);
    let later = [&args[..], &["--from", "2000-01-01", "--to", "2100-01-01"]].concat();
    succeeds(&later);
    let early = [&later[..], &["--origin", "source", "--timezone", "UTC"]].concat();
    succeeds(&early);
    fails(
        2,
        &[&args[..], &["--to", "1000-01-01", "--origin", "source"]].concat(),
        &["before the log's zero"],
    );
    let span = "1,u,v,1,1,1,FAILED,2020-01-01 00:00:00,0001-01-01 00:00:00,9000-01-01 00:00:00,,0";
    let kept = "2,u,v,1,1,1,FAILED,2020-01-01 00:00:00,,,5,0";
    let imported = import(&["--format", "helios", &helios_rows(&files, &[span, kept])], &[]);
    assert_eq!(imported.dropped(), named(&[("bad_number", 1)]));
}

#[test]
fn a_column_does_not_mix_dates_and_numbers() {
    let files = Scratch::new();
    let log = files.write("t.csv", "t,g,d\n5,1,9\n2020-06-09 18:41:01,1,9\n7,1,9\n");
    let map = ["--map", "submit_s=t", "--map", "gpus=g", "--map", "duration_s=d"];
    let imported = import(&["--format", "csv", &log], &map);
    assert_eq!((imported.dropped(), imported.lines("bad_number")), (named(&[("bad_number", 1)]), vec![3]));
    let log = files.write("t.csv", "t,g,d\n2020-06-09 18:41:01,1,9\n7,1,9\n");
    assert_eq!(import(&["--format", "csv", &log], &map).dropped(), named(&[("bad_date", 1)]));
}

#[test]
fn daylight_saving_gaps_are_reported() {
    let files = Scratch::new();
    let log = helios_rows(
        &files,
        &[
            "a,u,v,1,1,1,COMPLETED,2018-03-11 01:30:00,,,10,0",
            "b,u,v,1,1,1,COMPLETED,2018-03-11 02:30:00,,,10,0",
            "c,u,v,1,1,1,COMPLETED,2018-03-11 03:30:00,2018-03-11 03:30:00,2018-03-11 03:40:00,600,0",
            "d,u,v,1,1,1,COMPLETED,2018-11-04 01:30:00,,,10,0",
        ],
    );
    let imported = import(&["--format", "helios", &log], &["--timezone", "America/New_York"]);
    assert_eq!(imported.notices(), named(&[("dst_gap", 1), ("dst_fold", 1)]));
    assert_eq!([imported.lines("dst_gap"), imported.lines("dst_fold")], [vec![3], vec![5]]);
    let submitted: Vec<&str> = imported.rows[1..].iter().map(|row| row.split(',').nth(1).unwrap()).collect();
    // 2:30 is an hour behind 1:30, which 3:30 of the new time is, too.
    assert_eq!(submitted[..3], ["0", "3600", "3600"]);
}

#[test]
fn the_zone_of_the_host_changes_nothing() {
    let of = |zone: &str| {
        let output = aegis_sim()
            .env("TZ", zone)
            .args(["trace", "import", "--format", "philly", PHILLY, "-o", "-"])
            .output()
            .unwrap();
        (output.status.success(), output.stdout)
    };
    assert_eq!(of("Asia/Tokyo"), of("America/New_York"));
    assert!(of("UTC").0);
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

#[test]
fn equal_submissions_keep_the_order_of_the_log() {
    let files = Scratch::new();
    let rows: Vec<String> = (0..3000)
        .map(|i| format!("{},u,v,1,1,1,FAILED,2020-06-09 18:41:0{},,,5,0", 3000 - i, i % 2))
        .collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let imported = import(&["--format", "helios", &helios_rows(&files, &rows)], &[]);
    let even: Vec<String> = (0..1500).map(|i| (3000 - 2 * i).to_string()).collect();
    assert_eq!(ids(&imported)[..1500], even);
}
