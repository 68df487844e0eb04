//! Migrations stand in one order across crates: `NNNN_snake_case.sql`, no number twice.

use std::collections::BTreeMap;

use crate::finding::Finding;
use crate::workspace::Workspace;

pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut taken: BTreeMap<&str, &str> = BTreeMap::new();
    for source in workspace.migrations() {
        let name = source.path.rsplit('/').next().unwrap_or_default();
        let Some(number) = number(name) else {
            let advice = "name it like 0007_job_leases.sql: four digits and lowercase words";
            findings.push(Finding::new(&source.path, 1, "invalid migration name", advice));
            continue;
        };
        match taken.get(number) {
            Some(other) => {
                let what = format!("the number {number} is taken by {other}");
                findings.push(Finding::new(&source.path, 1, what, "give the newer one the next free number"));
            }
            None => {
                taken.insert(number, &source.path);
            }
        }
    }
    findings
}

fn number(name: &str) -> Option<&str> {
    let (number, words) = name.strip_suffix(".sql")?.split_once('_')?;
    let digits = number.len() == 4 && number.bytes().all(|byte| byte.is_ascii_digit());
    let small = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let snake = words.split('_').all(|word| !word.is_empty() && word.bytes().all(small));
    (digits && snake).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(paths: &[&str]) -> Vec<String> {
        let files: Vec<(&str, &str)> = paths.iter().map(|path| (*path, "")).collect();
        check(&Workspace::from_files(&files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn numbers_are_unique_across_crates() {
        let good = ["crates/store/migrations/0001_tenants.sql", "packs/crm/migrations/0002_leads_2.sql"];
        assert_eq!(findings(&good), Vec::<String>::new());
        let twice = ["crates/store/migrations/0001_tenants.sql", "packs/crm/migrations/0001_leads.sql"];
        assert_eq!(
            findings(&twice),
            ["packs/crm/migrations/0001_leads.sql:1: the number 0001 is taken by \
              crates/store/migrations/0001_tenants.sql: give the newer one the next free number"]
        );
    }

    #[test]
    fn names_have_one_form() {
        for bad in
            ["1_a.sql", "00001_a.sql", "0001.sql", "0001_.sql", "0001_A.sql", "0001_a-b.sql", "0001_a__b.sql"]
        {
            assert_eq!(findings(&[&format!("crates/a/migrations/{bad}")]).len(), 1, "{bad}");
        }
        assert_eq!(findings(&["crates/a/src/x.sql"]), Vec::<String>::new(), "only migrations");
    }
}
