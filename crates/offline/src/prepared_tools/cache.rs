//! Prepared palettes, so that a call costs no preparation.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use munshi_types::tool::ToolSpec;

use super::PreparedToolSet;

/// Bindings in use at once, generously; each is some hundred kilobytes.
const KEPT: usize = 64;

/// The latest palettes, the last used first.
#[derive(Debug, Default)]
pub(crate) struct PreparedToolCache {
    kept: Mutex<VecDeque<Kept>>,
}

#[derive(Debug)]
struct Kept {
    /// Holding the specs keeps their addresses from being used again, so that the same addresses are the same tools.
    specs: Vec<Arc<ToolSpec>>,
    fingerprint: u64,
    palette: Arc<PreparedToolSet>,
}

impl PreparedToolCache {
    pub(crate) fn get(&self, specs: &[Arc<ToolSpec>]) -> Arc<PreparedToolSet> {
        let same = |kept: &Kept| {
            kept.specs.len() == specs.len()
                && kept.specs.iter().zip(specs).all(|(one, other)| Arc::ptr_eq(one, other))
        };
        if let Some(found) = self.find_and_promote(same) {
            return found;
        }
        // Equal tools at other addresses: a caller that makes its list anew for each call.
        let fingerprint = fingerprint(specs);
        let equal = |kept: &Kept| kept.fingerprint == fingerprint && kept.specs == specs;
        if let Some(found) = self.find_and_promote(equal) {
            return found;
        }
        let palette = Arc::new(PreparedToolSet::new(specs));
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_front(Kept { specs: specs.to_vec(), fingerprint, palette: Arc::clone(&palette) });
        kept.truncate(KEPT);
        palette
    }

    /// A kept palette, moved to the front.
    fn find_and_promote(&self, wanted: impl Fn(&Kept) -> bool) -> Option<Arc<PreparedToolSet>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(wanted)?;
        let found = kept.remove(at)?;
        let palette = Arc::clone(&found.palette);
        kept.push_front(found);
        Some(palette)
    }
}

fn fingerprint(specs: &[Arc<ToolSpec>]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for spec in specs {
        spec.name.hash(&mut hasher);
        spec.phrases.hash(&mut hasher);
        spec.examples.len().hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_tools_are_prepared_once() {
        let spec = |about: &str| Arc::new(ToolSpec::read_only("look".parse().unwrap(), about, ""));
        let palettes = PreparedToolCache::default();
        let (one, equal, other) = (spec("a"), spec("a"), spec("b"));
        let first = palettes.get(std::slice::from_ref(&one));
        assert!(Arc::ptr_eq(&first, &palettes.get(&[one])));
        assert!(Arc::ptr_eq(&first, &palettes.get(&[equal])));
        assert!(!Arc::ptr_eq(&first, &palettes.get(&[other])));
    }
}
