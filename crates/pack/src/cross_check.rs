//! What can only be seen when every pack is in: that what they name of each other is there.

use munshi_types::{Effect, FallbackSearch, ToolSpec};

use crate::error::InvalidPack;
use crate::registry::PackRegistry;

pub(crate) fn check(packs: &PackRegistry) -> Result<(), InvalidPack> {
    for spec in packs.tools.all().map(|tool| &tool.known.spec) {
        let bad = |what: String| Err(InvalidPack::Other { pack: spec.module().to_owned(), what });
        if let Some(reply) =
            spec.reply.as_deref().filter(|reply| !packs.book.names().any(|name| name == *reply))
        {
            return bad(format!(
                "tool {} replies with the phrase `{reply}`, which does not exist",
                spec.name
            ));
        }
        if spec.needs_no_model && spec.reply.is_none() {
            return bad(format!("tool {} needs no model but has no reply phrase to be told by", spec.name));
        }
        if let Some(what) = spec.search.as_ref().and_then(|search| find_search_problem(packs, spec, search)) {
            return bad(what);
        }
    }
    packs.interfaces.resolve_all()
}

/// Why a search can't serve a tool. It is called without anybody asking for it, so it must only look.
fn find_search_problem(packs: &PackRegistry, spec: &ToolSpec, search: &FallbackSearch) -> Option<String> {
    let of = format!("tool {} searches with {}", spec.name, search.tool);
    let found = packs.tools.get(&format!("{}.{}", spec.module(), search.tool.bare()));
    let Some(found) = found.or_else(|| packs.tools.get(search.tool.as_str())) else {
        return Some(format!("{of}, which is not installed"));
    };
    let found = &found.known.spec;
    if found.effect != Effect::Read {
        return Some(format!("{of}, which is not read-only"));
    }
    let place = format!("/properties/{}", search.argument);
    if found.parameters.pointer(&place).is_none() {
        return Some(format!("{of}, which has no argument `{}`", search.argument));
    }
    let needed = found.parameters.get("required").and_then(|list| list.as_array());
    let other = needed.into_iter().flatten().find(|name| name.as_str() != Some(search.argument.as_str()));
    other.map(|name| format!("{of}, which also requires {name}"))
}
