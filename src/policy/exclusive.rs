use super::{JobRequest, Observation, Params, Placement, Policy, RiskSource};

/// A GPU never holds two jobs: only the common loop's idle GPUs.
pub(super) struct Exclusive;

impl Policy for Exclusive {
    fn collocates(&self) -> bool {
        false
    }

    fn required_memory_mib(&self, _: &JobRequest<'_>, _: &Params) -> Option<f64> {
        None
    }

    fn place(
        &self,
        _: &Observation<'_>,
        _: &JobRequest<'_>,
        _: &mut dyn RiskSource,
        _: &Params,
        _: &mut Placement,
    ) {
    }
}
