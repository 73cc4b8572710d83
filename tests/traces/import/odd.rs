//! What a careful reader of the account would be surprised by.

use super::*;
use crate::common::{Scratch, fails, succeeds};

/// Of a table with the columns `t`, `g`, `d` and perhaps others.
const TABLE: [&str; 6] = ["--map", "submit_s=t", "--map", "gpus=g", "--map", "duration_s=d"];

fn table(files: &Scratch, text: &str) -> String {
    files.write("table.csv", text)
}

#[test]
fn a_date_format_means_dates() {
    let files = Scratch::new();
    let log = table(&files, "t,g,d\n20200131,1,5\n20200201,1,5\n");
    let options =
        [&TABLE[..], &["--date-format", "%Y%m%d", "--from", "2020-01-01", "--to", "20200301"]].concat();
    assert_eq!(import(&["--format", "csv", &log], &options).rows[2], "2,86400,,1,5,");
    let args = [&["trace", "import", "--format", "csv", &log, "-o", "-"], &TABLE[..]].concat();
    fails(
        2,
        &[&args[..], &["--date-format", "%Y-%J"]].concat(),
        &["--date-format %Y-%J", "expected a format"],
    );
    let bracketed = table(&files, "t,g,d\n2020-01-01T00:00:07[Asia/Tokyo],1,5\n2020-01-01,1,5\n");
    let imported = import(&["--format", "csv", &bracketed], &TABLE);
    assert_eq!((imported.dropped(), imported.rows.len()), (named(&[("bad_date", 1)]), 2));
}

#[test]
fn no_input_is_overwritten() {
    let files = Scratch::new();
    let log = table(&files, "t,g,d\n1,1,5\n");
    let cluster = files.write("cluster.toml", std::fs::read("models/cluster.toml").unwrap());
    let args = |more: &[&str]| {
        let args = [&["trace", "import", "--format", "csv", log.as_str()], &TABLE[..]].concat();
        args.into_iter().chain(more.iter().copied()).map(str::to_owned).collect::<Vec<_>>()
    };
    let out = files.text("out.csv");
    for (more, says) in [
        (vec!["-o", &out, "--report", &log], "is an input and --report"),
        (vec!["-o", &out, "--report", &out], "name the same file"),
        (vec!["-o", &cluster, "--cluster", &cluster], "is an input and --out"),
        (vec!["-o", &out, "--report", "-"], "expected a file"),
    ] {
        let args = args(&more);
        fails(2, &args.iter().map(String::as_str).collect::<Vec<_>>(), &[says]);
    }
    assert!(!files.has("out.csv"));
}

#[test]
fn shares_are_above_0_to_1_where_there_are_any() {
    let files = Scratch::new();
    let log =
        table(&files, "t,g,d,s\n1,1,5,0.0000001\n2,1,5,1.7\n3,1,5,1\n4,2,5,0.25\n5,0.0000001,5,\n6,1.5,5,\n");
    let shares = [&TABLE[..], &["--map", "gpu_share=s"]].concat();
    let imported = import(&["--format", "csv", &log], &shares);
    assert_eq!(imported.rows[1..], ["3,0,,1,5,", "4,1,,2,5,0.25", "6,3,,2,5,0.75"]);
    assert_eq!(imported.dropped(), named(&[("bad_number", 1), ("zero_gpus", 2)]));
    // Their logs count GPUs.
    for (format, log) in [
        ("helios", format!("{HELIOS_HEADER}1,u,v,0.5,1,1,FAILED,2020-06-09 18:41:01,,,5,0\n{}", "2,u,v,1,1,1,FAILED,2020-06-09 18:41:01,,,5,0\n")),
        ("swf", "1 0 -1 60 -1 -1 -1 0.5 -1 -1 1 1 1 -1 1 -1 -1 -1\n2 0 -1 60 -1 -1 -1 1 -1 -1 1 1 1 -1 1 -1 -1 -1\n".to_owned()),
        ("pai", "job_id,num_inst,submit_time,num_gpu,duration\n1,1.5,0,1,5\n2,1,0,1,5\n".to_owned()),
    ] {
        let log = files.write("log", log);
        assert_eq!(import(&["--format", format, &log], &[]).dropped(), named(&[("bad_number", 1)]), "{format}");
    }
}

#[test]
fn any_text_is_an_id_and_a_comment_only_if_asked_for() {
    let files = Scratch::new();
    let log = table(&files, "id,t,g,d,u\n#1,0,1,5,None\nNone,1,1,5,nan\n-,2,1,5,a\n a ,3,1,5,b\n");
    let map = [&TABLE[..], &["--map", "job_id=id", "--map", "user=u"]].concat();
    let imported = import(&["--format", "csv", &log], &map);
    assert_eq!(imported.rows[1..], ["\"#1\",0,,1,5,,", "None,1,,1,5,,", "-,2,,1,5,,a", "a,3,,1,5,,b"]);
    let with_comments = [&map[..], &["--comment", "#"]].concat();
    assert_eq!(import(&["--format", "csv", &log], &with_comments).rows.len(), 4);
    let same =
        [&["trace", "import", "--format", "csv", &log, "-o", "-", "--comment", ","], &map[..]].concat();
    fails(2, &same, &["the same character"]);
}

#[test]
fn names_too_long_are_told() {
    let files = Scratch::new();
    let log = table(&files, &format!("t,g,d,v\n1,1,5,{}\n", "x".repeat(300)));
    let imported = import(&["--format", "csv", &log], &[&TABLE[..], &["--map", "vc=v"]].concat());
    assert_eq!((imported.rows[1].as_str(), imported.notices()), ("1,0,,1,5,,", named(&[("long_name", 1)])));
}

#[test]
fn unfinished_philly_jobs_are_dropped_and_notes_count_jobs() {
    let files = Scratch::new();
    let record = |id: &str, status: &str, start: &str, end: &str| {
        format!(
            r#"{{"status":"{status}","vc":"v","jobid":"{id}","attempts":[{{"start_time":"{start}","end_time":"{end}","detail":[{{"ip":"m1","gpus":["g"]}}]}}],"submitted_time":"{start}","user":"u"}}"#
        )
    };
    let night = |id: &str| record(id, "Pass", "2017-11-05 01:10:00", "2017-11-05 01:20:00");
    let running = record("r", "Running", "2017-10-07 01:12:09", "2017-10-07 01:13:23");
    let log = files.write("log.json", format!("[{},{running},{}]", night("a"), night("b")));
    let imported = import(&["--format", "philly", &log], &[]);
    assert_eq!(imported.dropped(), named(&[("not_final", 1)]));
    assert_eq!(imported.notices()[0], ("dst_fold".to_owned(), 2));
}

#[test]
fn tables_one_behind_another_have_one_header() {
    let files = Scratch::new();
    let log = table(&files, "t,g,d\n1,1,5\nt,g,d\n2,1,5\n");
    assert_eq!(import(&["--format", "csv", &log], &[&TABLE[..], &["--strict"]].concat()).rows.len(), 3);
}

#[test]
fn an_open_quote_on_the_last_line_is_found() {
    let files = Scratch::new();
    let log = files.write(
        "log.csv",
        format!("{HELIOS_HEADER}1,u,v,1,1,1,FAILED,2020-06-09 18:41:01,,,5,0\n\"2,u,v,1\n"),
    );
    fails(2, &["trace", "import", "--format", "helios", &log, "-o", "-"], &["line 3: a double quote opens"]);
}

#[test]
fn options_that_would_do_nothing_are_refused() {
    let args = |format: &str, input: &str, more: &[&str]| -> Vec<String> {
        let args = ["trace", "import", "--format", format, input, "-o", "-"];
        args.iter().chain(more).map(|&arg| arg.to_owned()).collect()
    };
    for (format, input, more, says) in [
        ("helios", HELIOS, &["--attempts", "sum"][..], "--attempts is for philly"),
        ("helios", HELIOS, &["--seed", "1"], "--sample"),
        ("philly", PHILLY, &["--comment", "#"], "--comment is for tables"),
        (
            "pai",
            "examples/logs/pai_no_estimate.csv",
            &["--date-format", "%Y"],
            "--date-format is for logs with dates",
        ),
        ("helios", HELIOS, &["--workloads", "models/workloads.csv"], "--workloads is for aegis"),
        ("helios", HELIOS, &["--min-gpus", "5", "--max-gpus", "2"], "--min-gpus 5 is above --max-gpus 2"),
        ("helios", HELIOS, &["--head", "0"], "--head"),
    ] {
        let args = args(format, input, more);
        fails(2, &args.iter().map(String::as_str).collect::<Vec<_>>(), &[says]);
    }
}

/// Nothing is said of `trace map` where all jobs have workloads.
#[test]
fn the_next_step_is_told_where_there_is_one() {
    let files = Scratch::new();
    let out = files.text("out.csv");
    let told = |input: &str, format: &str| {
        let (_, _, stderr) = crate::common::run(&["trace", "import", "--format", format, input, "-o", &out]);
        stderr.contains("trace map")
    };
    assert!(told(HELIOS, "helios") && !told("traces/philly.csv", "csv"));
    succeeds(&["trace", "lint", &out]);
}
