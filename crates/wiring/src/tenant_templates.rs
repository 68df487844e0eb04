//! The tenants of `tenants/`, as they are when the program is built: whoever has just begun can talk to somebody at once.

use munshi_pack::{TenantTemplate, ready_files};

pub const READY: &[TenantTemplate] = &[
    TenantTemplate {
        name: "rangoli",
        about: "A clothes shop: Kabir talks people out of the second jacket, in Hinglish",
        files: ready_files!(
            "../../../tenants/rangoli",
            "agents/commerce-payments.toml",
            "bindings/shop.toml",
            "humans/kabir.md",
            "policy.toml",
            "teams/commerce-concierge.md",
            "teams/support.md",
        ),
    },
    TenantTemplate {
        name: "makkal",
        about: "A citizens' desk: Thendral wants the street's name, in Tamil",
        files: ready_files!(
            "../../../tenants/makkal",
            "agents/political-multilingual.toml",
            "bindings/citizens.toml",
            "humans/thendral.md",
            "teams/political-desk.md",
        ),
    },
    TenantTemplate {
        name: "chiguru",
        about: "A folk-rock band: Vasuki of the red cart, in Kannada",
        files: ready_files!(
            "../../../tenants/chiguru",
            "agents/standard-productivity.toml",
            "bindings/fans.toml",
            "humans/vasuki.md",
            "teams/fan-engagement.md",
        ),
    },
    TenantTemplate {
        name: "taalam",
        about: "A dance school: Bujji Master counts in eights, in English and Telugu",
        files: ready_files!(
            "../../../tenants/taalam",
            "agents/standard-productivity.toml",
            "bindings/fans.toml",
            "humans/bujji.md",
            "teams/fan-engagement.md",
        ),
    },
    TenantTemplate {
        name: "nyayapatra",
        about: "Demand notices: Vidya asks for the date again, in English and Hindi",
        files: ready_files!(
            "../../../tenants/nyayapatra",
            "agents/legal-documents.toml",
            "bindings/legal-notice.toml",
            "humans/vidya.md",
            "teams/notice-writers.md",
        ),
    },
    TenantTemplate {
        name: "saathi",
        about: "Saathi finishes half-finished things; Lekha knows whose yes is needed",
        files: ready_files!(
            "../../../tenants/saathi",
            "agents/business-productivity.toml",
            "agents/concierge.toml",
            "agents/standard-productivity.toml",
            "bindings/business-concierge.toml",
            "bindings/business-work.toml",
            "bindings/pro-concierge.toml",
            "bindings/pro-work.toml",
            "humans/lekha.md",
            "humans/saathi.md",
            "teams/business-work.md",
            "teams/pre-sales-business.md",
            "teams/pre-sales.md",
            "teams/pro-work.md",
        ),
    },
    TenantTemplate {
        name: "janani",
        about: "A clinic: its desk, its patients' line and its marketing",
        files: ready_files!(
            "../../../tenants/janani",
            "agents/clinical-b2b.toml",
            "agents/clinical-patient.toml",
            "agents/marketing-research.toml",
            "bindings/clinic-desk.toml",
            "bindings/marketing-desk.toml",
            "bindings/patient-line.toml",
            "humans/meenal.md",
            "humans/revathi.md",
            "humans/tara.md",
            "teams/fertility-clinic.md",
            "teams/fertility-patient.md",
            "teams/marketing.md",
        ),
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    fn walk(folder: &Path, root: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, root, found);
            } else if path.parent() != Some(root) {
                found.insert(path.strip_prefix(root).unwrap().display().to_string());
            }
        }
    }

    #[test]
    fn every_file_of_the_folder_comes_along() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tenants");
        let mut there = BTreeSet::new();
        walk(&root, &root, &mut there);
        let listed = READY
            .iter()
            .flat_map(|one| one.files.iter().map(move |file| format!("{}/{}", one.name, file.path)));
        assert_eq!(listed.collect::<BTreeSet<_>>(), there);
    }
}
