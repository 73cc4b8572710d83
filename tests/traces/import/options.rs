use super::*;
use crate::common::{Scratch, aegis_sim, fails, succeeds};

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
    fails(
        2,
        &args(&["--vc", "vcZ"]),
        &["no job is left of 16 rows", "12 left out by --vc (first: examples/logs/helios.csv, line 2)"],
    );
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
    fails(
        2,
        &args,
        &["helios.csv, line 9", "helios.csv, line 5", "4 of 16 rows would be dropped", "--strict"],
    );
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
