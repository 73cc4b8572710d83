use super::*;
use crate::common::{Scratch, aegis_sim, fails, succeeds};

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
