//! Pictures and PDFs that came with the person's message, for models that can see and may.
//!
//! What a picture shows can't be hidden as names in a text can. So models elsewhere get none unless the tenant allows it
//! (`residency.pictures`); a model that is not shown one is told so, and that it must not guess.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use munshi_blobs::references::parse_reference;
use munshi_blobs::{BlobService, BlobVariant, MediaType};
use munshi_llm::chat::{ModelMedia, ModelMediaSource};
use munshi_llm::gateway::{Capability, ModelRoute};
use munshi_llm::{ChatRequest, ModelMessagePart, ModelTarget};
use munshi_safety::pipeline::TaintSource;
use munshi_types::{AttachedFile, BlobId, TenantId};

use super::Turn;

/// More of one message are named and not shown.
pub(super) const MOST: usize = 5;
/// A larger PDF is named and not shown: it would cost what a book costs.
const LARGEST_DOCUMENT: u64 = 10 << 20;

/// What came with the message of a turn.
#[derive(Debug, Default)]
pub(super) struct MessageMedia {
    files: Vec<SentFile>,
    /// A budget refused the call that would have shown them.
    is_refused: bool,
}

#[derive(Debug)]
struct SentFile {
    /// `"bill.jpg" (image/jpeg)`
    name: String,
    /// None where there is nothing that a model could see.
    part: Option<ModelMessagePart>,
    /// It was sent, and the channel did not give it out.
    is_lost: bool,
}

/// Why a model is not shown what came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unseen {
    /// Nobody has it: the channel did not give it out.
    Lost,
    /// Nothing that a model could see: a sound, a large document.
    Kind,
    /// No model of the route can see.
    Unable,
    /// Those that can are elsewhere, and the tenant does not let pictures go there.
    Private,
    /// It would take more than the run has left.
    Costly,
}

impl Unseen {
    const ALL: [Self; 5] = [Self::Lost, Self::Kind, Self::Unable, Self::Private, Self::Costly];

    const fn reason(self) -> &'static str {
        match self {
            Self::Lost => "it could not be fetched from where it was sent, and nobody here has it",
            Self::Kind => "files of this kind or size can't be opened here",
            Self::Unable => "no model that may answer here can see files",
            Self::Private => "this business does not let pictures and documents go to models elsewhere",
            Self::Costly => "it is too long: reading it would take more than one answer may cost here",
        }
    }
}

impl Turn {
    /// Reads what came with the message, once a turn. What can't be read is not shown; the turn goes on.
    pub(super) async fn load_media(&mut self) {
        let attached = self.setup.prepared.message.attached.clone();
        if self.media.is_some() || attached.is_empty() {
            return;
        }
        let mut media = MessageMedia::default();
        let mut shown = 0;
        let is_known =
            |file: &&AttachedFile| parse_reference(&file.reference).is_some() || file.find_loss().is_some();
        for file in attached.iter().filter(is_known) {
            let name = serde_json::Value::from(file.name.clone().unwrap_or_default());
            let part = match &self.setup.engine.settings.files {
                Some(files) if shown < MOST => load_part(files, self.setup.tenant(), file).await,
                _ => None,
            };
            shown += usize::from(part.is_some());
            let is_lost = file.find_loss().is_some();
            media.files.push(SentFile { name: format!("{name} ({})", file.media_type), part, is_lost });
        }
        self.media = Some(media);
    }

    /// From here on the turn goes without what came: no budget pays for the call that shows it. False where it does already.
    pub(super) fn hide_media(&mut self) -> bool {
        self.media.as_mut().is_some_and(|media| !std::mem::replace(&mut media.is_refused, true))
    }

    /// Puts what came into the person's message, or why it is not there.
    pub(super) fn add_media(&mut self, request: &mut ChatRequest) {
        let Some(media) = self.media.as_ref().filter(|media| !media.files.is_empty()) else { return };
        // Behind it stands each step of this turn, a message of the model and one of tools.
        let index = request.messages.len().checked_sub(1 + 2 * self.state.snapshot.exchanges.len());
        let Some(index) = index.filter(|index| *index < request.messages.len()) else { return };
        let before = request.messages[index].parts.len();
        let outcomes: Vec<Option<Unseen>> = self.show_files(media, request, index);
        let is_shown = request.messages[index].parts.len() > before;
        let list = |outcome: Option<Unseen>| {
            let files = media.files.iter().zip(&outcomes).filter(|(_, of_file)| **of_file == outcome);
            files.map(|(file, _)| file.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        let mut text = match list(None) {
            names if names.is_empty() => String::new(),
            names => format!("\n\n[Sent along: {names}]"),
        };
        for unseen in Unseen::ALL.into_iter().filter(|unseen| outcomes.contains(&Some(*unseen))) {
            text.push_str(&format!(
                "\n\n[Sent along: {}. You can't see what is in it: {}. Tell the person so where it matters, and don't \
                 guess what it shows.]",
                list(Some(unseen)),
                unseen.reason()
            ));
        }
        request.messages[index].parts.push(ModelMessagePart::Text { text });
        if is_shown {
            // What stands in a picture may be anybody's words.
            self.state.snapshot.taint.sources.insert(TaintSource::Document);
        }
    }

    /// Adds what a model may see to the message, and says of each file why not, where not.
    fn show_files(
        &self,
        media: &MessageMedia,
        request: &mut ChatRequest,
        index: usize,
    ) -> Vec<Option<Unseen>> {
        let mut all = request.clone();
        all.messages[index].parts.extend(media.files.iter().filter_map(|file| file.part.clone()));
        let route = self.setup.route_for(&self.state.snapshot);
        let targets = find_targets(&route, &all, self);
        let anywhere = ModelRoute { hides_media: false, ..(*route).clone() };
        let refused = match &targets {
            None if find_targets(&anywhere, &all, self).is_some() => Some(Unseen::Private),
            None => Some(Unseen::Unable),
            Some(_) => Some(Unseen::Costly).filter(|_| media.is_refused),
        };
        let targets = targets.unwrap_or_default();
        let show = |file: &SentFile| {
            if file.is_lost {
                return Some(Unseen::Lost);
            }
            let Some(part) = &file.part else { return Some(Unseen::Kind) };
            if refused.is_some() {
                return refused;
            }
            request.messages[index].parts.push(part.clone());
            if self.can_afford(&targets, request) {
                return None;
            }
            request.messages[index].parts.pop();
            Some(Unseen::Costly)
        };
        media.files.iter().map(show).collect()
    }

    /// Whether the run has enough left for a call, whichever of the models it goes to.
    fn can_afford(&self, targets: &[Arc<ModelTarget>], request: &ChatRequest) -> bool {
        let gateway = &self.setup.engine.gateway;
        targets.iter().all(|target| self.setup.budget.allows(gateway.estimate_call(target, request)))
    }
}

/// Whether a call carries what only some models can be shown.
pub(super) fn has_media(request: &ChatRequest) -> bool {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    parts.into_iter().any(|part| matches!(part, ModelMessagePart::Image(_) | ModelMessagePart::Document(_)))
}

/// The models that may be asked, where there are any.
fn find_targets(route: &ModelRoute, request: &ChatRequest, turn: &Turn) -> Option<Vec<Arc<ModelTarget>>> {
    route.candidates(Capability::Default, request, turn.setup.engine.gateway.targets()).ok()
}

/// A picture as it is shown to people, a PDF as it is. None for everything else.
async fn load_part(files: &BlobService, tenant: TenantId, file: &AttachedFile) -> Option<ModelMessagePart> {
    let id = parse_reference(&file.reference)?;
    let is_pdf = file.media_type == MediaType::Pdf.as_str();
    let is_picture = file.media_type.parse().is_ok_and(MediaType::is_picture);
    let read = match (is_picture, is_pdf) {
        (true, _) => read_file(files, tenant, id, BlobVariant::Preview).await,
        (_, true) => read_file(files, tenant, id, BlobVariant::Original).await,
        _ => return None,
    };
    let bytes = match read {
        Ok(bytes) => bytes?,
        Err(error) => {
            tracing::warn!(%error, %tenant, file = %id, "a file of a message can't be shown to a model");
            return None;
        }
    };
    let media_type = if is_pdf { MediaType::Pdf } else { MediaType::Jpeg }.to_string();
    let media = ModelMedia { media_type, source: ModelMediaSource::Data(STANDARD.encode(bytes)) };
    Some(if is_pdf { ModelMessagePart::Document(media) } else { ModelMessagePart::Image(media) })
}

/// None where it is too large.
async fn read_file(
    files: &BlobService,
    tenant: TenantId,
    id: BlobId,
    variant: BlobVariant,
) -> munshi_blobs::Result<Option<Vec<u8>>> {
    let content = files.open(tenant, id, variant).await?;
    if variant == BlobVariant::Original && content.blob.size > LARGEST_DOCUMENT {
        return Ok(None);
    }
    content.read_all().await.map(Some)
}
