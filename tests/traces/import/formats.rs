use super::*;
use crate::common::{Scratch, fails, succeeds};

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
    let imported = import(&["--format", "csv", "--comment", "#", "examples/logs/accounting.csv"], &options);
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
