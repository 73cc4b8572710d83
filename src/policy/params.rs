use serde::{Serialize, Serializer};

use crate::error::{Result, did_you_mean, input_error};

/// What a parameter may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Domain {
    Number {
        min: f64,
        max: f64,
    },
    Integer {
        min: u32,
        max: u32,
    },
    Choice(&'static [&'static str]),
    /// A GPU index, or one of the words.
    IndexOr(&'static [&'static str]),
    Flag,
}

impl std::fmt::Display for Domain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Domain::Number { min, max } => write!(f, "a number from {min} to {max}"),
            Domain::Integer { min, max } => write!(f, "a whole number from {min} to {max}"),
            Domain::Choice(words) => write!(f, "one of {}", words.join(", ")),
            Domain::IndexOr(words) => {
                write!(f, "one of {}, or a GPU index from 0 to {MAX_INDEX}", words.join(", "))
            }
            Domain::Flag => write!(f, "true or false"),
        }
    }
}

const MAX_INDEX: u32 = 4095;

/// A value that a parameter can hold, read from and shown as text.
trait Value: Sized {
    fn read(text: &str, domain: Domain) -> Option<Self>;
    fn show(&self) -> String;
}

impl Value for f64 {
    fn read(text: &str, domain: Domain) -> Option<f64> {
        let Domain::Number { min, max } = domain else { return None };
        text.parse().ok().filter(|value| (min..=max).contains(value)).map(|value: f64| value + 0.0)
    }
    fn show(&self) -> String {
        self.to_string()
    }
}

impl Value for u32 {
    fn read(text: &str, domain: Domain) -> Option<u32> {
        let Domain::Integer { min, max } = domain else { return None };
        text.parse().ok().filter(|value| (min..=max).contains(value))
    }
    fn show(&self) -> String {
        self.to_string()
    }
}

impl Value for bool {
    fn read(text: &str, _: Domain) -> Option<bool> {
        text.parse().ok()
    }
    fn show(&self) -> String {
        self.to_string()
    }
}

/// A parameter whose values are words.
macro_rules! words {
    ($(#[doc = $doc:literal] $name:ident { $($(#[doc = $word_doc:literal])* $variant:ident = $word:literal),* $(,)? })*) => {$(
        #[doc = $doc]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub enum $name { #[default] $($(#[doc = $word_doc])* $variant),* }

        impl $name {
            pub const WORDS: &'static [&'static str] = &[$($word),*];
        }

        impl Value for $name {
            fn read(text: &str, _: Domain) -> Option<Self> {
                match text { $($word => Some(Self::$variant),)* _ => None }
            }
            fn show(&self) -> String {
                match self { $(Self::$variant => $word,)* }.to_owned()
            }
        }
    )*};
}

words! {
    /// How jobs that died of OOM come back.
    Recovery {
        /// On idle GPUs; the main queue waits meanwhile.
        Idle = "idle",
        /// Anywhere that offers their raised memory floor.
        Floors = "floors",
    }
    /// What the observation window opens at.
    ObservationAnchor {
        /// The job's first GPU activity.
        Activity = "activity",
        /// Its launch.
        Launch = "launch",
        /// Nothing: GPUs are available at once.
        None = "none",
    }
    /// Where AEGIS gets a job's memory need from.
    MemorySource {
        /// Nowhere: a fixed floor of free memory.
        Free = "free",
        Peak = "peak",
        Horus = "horus",
        FakeTensor = "faketensor",
        GpuMemNet = "gpumemnet",
    }
    /// The order of the GPUs that pass the filters of AEGIS.
    Order {
        /// Most available GPU memory first.
        Magm = "magm",
        /// Least utilised GPU first.
        Lug = "lug",
        /// Best fit.
        Bf = "bf",
        /// First fit.
        Ff = "ff",
        /// Round robin.
        Rr = "rr",
    }
    /// The runtime-pressure filter of AEGIS.
    Pressure {
        /// On SMACT together with SMOCC or DRAMA.
        Thresholds = "thresholds",
        /// A single threshold on GPU utilisation, which nvidia-smi shows.
        GpuUtilization = "gpu_utilization",
        None = "none",
    }
}

/// The GPU whose SMACT and SMOCC telemetry reads zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BlindGpu {
    #[default]
    None,
    /// This one of every server.
    Index(u32),
    /// One of every server, drawn from the seed.
    Seeded,
}

impl Value for BlindGpu {
    fn read(text: &str, _: Domain) -> Option<BlindGpu> {
        match text {
            "none" => Some(BlindGpu::None),
            "seeded" => Some(BlindGpu::Seeded),
            index => index.parse().ok().filter(|index| *index <= MAX_INDEX).map(BlindGpu::Index),
        }
    }
    fn show(&self) -> String {
        match self {
            BlindGpu::None => "none".to_owned(),
            BlindGpu::Seeded => "seeded".to_owned(),
            BlindGpu::Index(index) => index.to_string(),
        }
    }
}

/// A parameter's name, meaning and range.
pub struct Parameter {
    pub key: &'static str,
    pub doc: &'static str,
    pub domain: Domain,
    set: fn(&mut Params, &str, Domain) -> Option<()>,
    get: fn(&Params) -> String,
}

macro_rules! parameters {
    ($($(#[doc = $doc:literal])+ $key:ident: $type:ty = $domain:expr;)*) => {
        /// Every constant of the schedulers and every switch of a run.
        ///
        /// Values come from [`ParamsFile`](super::ParamsFile)s; [`PARAMETERS`] lists meanings and ranges.
        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct Params { $($(#[doc = $doc])+ pub $key: $type,)* }

        /// All parameters, in the order of their documentation.
        pub static PARAMETERS: &[Parameter] = &[$(Parameter {
            key: stringify!($key),
            doc: concat!($($doc),+),
            domain: $domain,
            set: |params, text, domain| {
                params.$key = Value::read(text, domain)?;
                Some(())
            },
            get: |params| params.$key.show(),
        }),*];
    };
}

const SECONDS: Domain = Domain::Number { min: 0.0, max: 1e6 };
const MIB: Domain = Domain::Number { min: 0.0, max: 1e9 };
const FRACTION: Domain = Domain::Number { min: 0.0, max: 1.0 };

parameters! {
    /// Period of the scheduler loop; one job is dispatched per tick. 0: the loop runs whenever something changes, until nothing can be dispatched.
    tick_s: f64 = SECONDS;
    /// From the end of a process or its first GPU activity until the scheduler notices.
    detection_lag_s: f64 = SECONDS;
    /// From the choice of a job to its launch.
    dispatch_lag_s: f64 = SECONDS;
    /// How jobs that died of OOM come back: on idle GPUs only, or wherever their raised memory floor is free.
    recovery: Recovery = Domain::Choice(Recovery::WORDS);
    /// How long a GPU accepts no further job after the newest one's anchor.
    observation_window_s: f64 = SECONDS;
    /// What the observation window opens at: first GPU activity, launch, or no observation at all.
    observation_anchor: ObservationAnchor = Domain::Choice(ObservationAnchor::WORDS);
    /// Samples (one per second) that a risk is worked out from.
    telemetry_samples: u32 = Domain::Integer { min: 1, max: 600 };
    /// GPU of every server whose SMACT and SMOCC telemetry reads zero; `seeded` draws one per server.
    telemetry_blind_gpu: BlindGpu = Domain::IndexOr(&["none", "seeded"]);
    /// Free memory that is never counted as available.
    memory_guard_mib: f64 = MIB;
    /// The same as a fraction of the GPU's memory; the larger of the two counts.
    memory_guard_fraction: f64 = FRACTION;
    /// Recovery floors lie at multiples of this fraction of a GPU's memory.
    recovery_bucket_fraction: f64 = Domain::Number { min: 0.01, max: 1.0 };
    /// Largest step between recovery floors.
    recovery_bucket_step_mib: f64 = Domain::Number { min: 1.0, max: 1e9 };
    /// Where AEGIS gets a job's memory need from; `free` is a fixed floor.
    memory_source: MemorySource = Domain::Choice(MemorySource::WORDS);
    /// Available memory that AEGIS asks for under `memory_source = free`.
    memory_floor_mib: f64 = MIB;
    /// Added to a memory figure of any other source.
    memory_margin_mib: f64 = MIB;
    /// Order in which AEGIS takes the GPUs that pass its filters. `lug` goes by SMACT, and under `pressure = gpu_utilization` by GPU utilisation.
    placement: Order = Domain::Choice(Order::WORDS);
    /// Runtime-pressure filter of AEGIS: thresholds on SMACT, SMOCC and DRAMA, one on GPU utilisation, or none.
    pressure: Pressure = Domain::Choice(Pressure::WORDS);
    /// SMACT risk from which a GPU may be rejected.
    smact_threshold: f64 = FRACTION;
    /// SMOCC risk from which a GPU with too much SMACT is rejected.
    smocc_threshold: f64 = FRACTION;
    /// DRAMA risk from which a GPU with too much SMACT is rejected.
    drama_threshold: f64 = FRACTION;
    /// GPU utilisation risk from which a GPU is rejected under `pressure = gpu_utilization`.
    gpu_util_threshold: f64 = FRACTION;
    /// Sum of predicted utilisations that Horus allows on a GPU.
    horus_utilization_cap: f64 = Domain::Number { min: 0.0, max: 100.0 };
    /// Whether under Horus a job without a Horus memory estimate waits for idle GPUs and is booked at nothing.
    horus_needs_estimate: bool = Domain::Flag;
    /// Jobs that Lucid allows on a GPU.
    lucid_max_jobs: u32 = Domain::Integer { min: 1, max: 1000 };
    /// Sum of sharing scores that Lucid allows on a GPU.
    lucid_max_score: u32 = Domain::Integer { min: 0, max: 1000 };
    /// GPU memory that Lucid leaves free.
    lucid_memory_margin_mib: f64 = MIB;
    /// Whether the model's runtime factors hold; without them a job alone runs for exactly its profiled time.
    runtime_factors: bool = Domain::Flag;
    /// Whether run-to-run noise is drawn (for every seed but 0).
    noise: bool = Domain::Flag;
    /// Multiplies the pressure that jobs exert on each other.
    interference_strength: f64 = Domain::Number { min: 0.0, max: 100.0 };
}

impl Params {
    /// Sets a parameter from text.
    ///
    /// # Errors
    /// Unknown keys, with the nearest and all valid ones, and values out of range, with the range.
    pub fn set(&mut self, key: &str, text: &str) -> Result<()> {
        let parameter = Parameter::find(key)?;
        (parameter.set)(self, text, parameter.domain)
            .ok_or_else(|| input_error!("parameter {key}: found {text:?}; expected {}", parameter.domain))
    }

    /// Applies one `--set key=value`.
    pub fn assign(&mut self, assignment: &str) -> Result<()> {
        let (key, text) = assignment.split_once('=').ok_or_else(|| {
            input_error!("--set {assignment:?}: expected key=value, such as --set observation_window_s=60")
        })?;
        self.set(key.trim(), text.trim())
    }

    /// Seed of run-to-run noise in a run of a seed: 0 where it is switched off.
    pub(crate) fn noise_seed(&self, seed: u64) -> u64 {
        if self.noise { seed } else { 0 }
    }

    /// Every parameter and its value as text.
    pub fn entries(&self) -> impl Iterator<Item = (&'static Parameter, String)> + '_ {
        PARAMETERS.iter().map(|parameter| (parameter, (parameter.get)(self)))
    }
}

impl Parameter {
    /// Its value in a set, as text.
    pub fn value(&self, params: &Params) -> String {
        (self.get)(params)
    }

    /// A value as text, written as the simulator writes it.
    ///
    /// # Errors
    /// Out of range, with the range.
    pub fn canonical(&self, text: &str) -> Result<String> {
        let mut params = Params::default();
        params.set(self.key, text)?;
        Ok(self.value(&params))
    }

    pub(super) fn find(key: &str) -> Result<&'static Parameter> {
        PARAMETERS.iter().find(|parameter| parameter.key == key).ok_or_else(|| {
            let known = || PARAMETERS.iter().map(|parameter| parameter.key);
            let ranges: Vec<String> =
                PARAMETERS.iter().map(|p| format!("\n  {}: {}", p.key, p.domain)).collect();
            input_error!(
                "unknown parameter {key:?}: {}parameters are{}",
                did_you_mean(key, known()),
                ranges.concat()
            )
        })
    }
}

/// Serialized as a map from key to text.
impl Serialize for Params {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.entries().map(|(parameter, value)| (parameter.key, value)))
    }
}
