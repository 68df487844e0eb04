//! What every page of the account shows around its own.

use munshi_types::Timestamp;

use crate::account::signed_in_operator::{OpenWorkspace, SignedInOperator};
use crate::error::ApiError;
use crate::html_page::PageNotice;
use crate::page_phrases::PagePhrases;

/// Who is here, and where else they can go.
pub struct AccountFrame {
    pub words: PagePhrases,
    pub name: String,
    pub email: String,
    /// What forms carry.
    pub form: String,
    /// None for who looks after none.
    pub workspace: Option<OpenWorkspace>,
    /// More than one to choose from.
    pub others: Vec<String>,
    /// The page that is open, as its path ends.
    pub here: &'static str,
    /// What came of a form.
    pub told: Option<PageNotice>,
}

impl AccountFrame {
    pub async fn load(
        who: &SignedInOperator,
        here: &'static str,
        told: Option<PageNotice>,
    ) -> Result<Self, ApiError> {
        let workspace = who.find_open_workspace().await?;
        let all = who.list_workspaces().await?;
        let others = if all.len() > 1 {
            all.iter().map(|one| one.tenant.name.to_string()).collect()
        } else {
            Vec::new()
        };
        Ok(Self {
            words: who.words,
            name: who.operator.name.clone(),
            email: who.operator.email.clone(),
            form: who.form_token(),
            workspace,
            others,
            here,
            told,
        })
    }

    pub fn workspace_name(&self) -> &str {
        self.workspace.as_ref().map_or("", |workspace| workspace.tenant.name.as_str())
    }

    /// Whether they look after who comes in.
    pub fn can_manage(&self) -> bool {
        self.workspace.as_ref().is_some_and(|workspace| workspace.role <= munshi_identity::Role::Admin)
    }

    /// Whether they may write in conversations.
    pub fn can_join(&self) -> bool {
        self.workspace.as_ref().is_some_and(|workspace| workspace.role <= munshi_identity::Role::Staff)
    }

    /// A moment by the clock of the open workspace.
    pub fn format_time(&self, at: Timestamp) -> String {
        self.words.format_time(at, self.workspace.as_ref().map(|workspace| &workspace.tenant))
    }

    pub fn is_page(&self, page: &str) -> bool {
        self.here == page
    }

    pub fn is_workspace(&self, name: &str) -> bool {
        self.workspace_name() == name
    }
}
