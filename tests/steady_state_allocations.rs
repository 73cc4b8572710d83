//! A run allocates while it is set up, not for each event.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Write;

use aegis_sim::cluster::ClusterSpec;
use aegis_sim::model::Model;
use aegis_sim::policy::{PolicySpec, resolve_params};
use aegis_sim::sim::{NoObserver, Run, World};
use aegis_sim::workload::{Catalogue, Trace};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: passes every request on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's obligations are the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Jobs of all workloads, about as fast as eight GPUs work them off.
fn trace(jobs: usize) -> Trace {
    let catalogue = Catalogue::builtin();
    let mut text = String::from("job_id,submit_s,workload,gpus,duration_s\n");
    for job in 0..jobs {
        let workload = &catalogue.workloads()[job * 7 % catalogue.workloads().len()];
        let duration_s = 60 + job * 37 % 300;
        writeln!(text, "{job},{},{},{},{duration_s}", job * 20, workload.name, workload.gpus).unwrap();
    }
    Trace::parse("t", "t.csv", text.as_bytes()).unwrap()
}

/// Allocations and events after set-up.
fn allocations(policy: &str, jobs: usize) -> (u64, u64) {
    let cluster = "schema_version = 1\n[[server]]\nname = \"a\"\n[[server.gpu]]\nmodel = \"m\"\ncount = 4\n\
                   memory_mib = 40960\n[[server]]\nname = \"b\"\n[[server.gpu]]\nmodel = \"m\"\ncount = 4\n\
                   memory_mib = 40960\nspeed = 0.9\n";
    let cluster = ClusterSpec::parse("c.toml", cluster).unwrap();
    let world = World::new(&trace(jobs), Catalogue::builtin(), cluster, Model::builtin()).unwrap();
    let policy: PolicySpec = policy.parse().unwrap();
    let params = resolve_params(&policy, &[], &[]).unwrap();
    let run = Run::new(&world, &policy, &params, 1).unwrap();
    let before = ALLOCATIONS.get();
    let record = run.finish(&mut NoObserver);
    let count = ALLOCATIONS.get() - before;
    assert!(record.attempts.len() >= jobs);
    let shared = record.attempts.iter().filter(|attempt| attempt.collocated).count();
    assert_eq!(shared > jobs / 10, policy.to_string() != "exclusive", "{policy}: {shared} shared");
    (count, record.events)
}

#[test]
fn events_do_not_allocate() {
    for policy in ["exclusive", "horus", "lucid", "aegis", "aegis+lug", "aegis+peak-mem"] {
        let (small, few) = allocations(policy, 500);
        let (large, many) = allocations(policy, 2000);
        println!("{policy}: {small} allocations for {few} events, {large} for {many}");
        assert!(many > 3 * few);
        // Queues and lists that double: a few allocations more at most.
        assert!(large < small + 40, "{policy}: {small} allocations for {few} events, {large} for {many}");
    }
}
