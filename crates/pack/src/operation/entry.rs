//! Operations as a list holds them: without their types, so that a surface is written once for all.

use std::any::type_name;
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;

use munshi_identity as identity;
use munshi_identity::keys::ApiAccess;
use munshi_safety::policy;
use munshi_types::{Reach, TenantStatus};
use serde::de::DeserializeOwned;
use serde_json::Value;
use utoipa::openapi::schema::{SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::error::{OperationError, OperationErrorCode};
use super::idempotency::{self, Request};
use super::spec::{CallerClass, OperationScope, OperationSpec, RouteMethod};
use super::{Operation, OperationCall, RenderView};

fn check<S>(spec: &OperationSpec, call: &OperationCall<S>) -> Result<(), OperationError> {
    let is_installation = call.tenant.is_installation();
    call.caller.authorize_for(spec.needs, is_installation)?;
    match (spec.needs.scope(), is_installation) {
        (OperationScope::Tenant, true) => {
            return Err(OperationError::new(OperationErrorCode::Invalid, "Say which tenant is meant.")
                .hint("Send its name as `x-munshi-tenant`, or use --tenant NAME."));
        }
        (OperationScope::Installation, false) => {
            return Err(OperationError::internal(format!("{} is not one tenant's", spec.id())));
        }
        _ => {}
    }
    // What was given may still be taken back.
    let takes_back = matches!(spec.verb, "logout" | "revoke");
    if call.tenant.status == TenantStatus::Archived && spec.writes() && !takes_back {
        return Err(OperationError::archived(&call.tenant.name));
    }
    Ok(())
}

/// What a pack's operation asks of the tenant's policy, as its tools do.
async fn check_policy<S: Sync>(spec: &OperationSpec, call: &OperationCall<S>) -> Result<(), OperationError> {
    let CallerClass::Scope { scope, access, .. } = spec.needs else { return Ok(()) };
    let pack = scope.split('.').next().unwrap_or_default();
    let principal = call.caller.api_caller().map(|caller| caller.principal.clone());
    call.read(move |tx| {
        let (_, policy) = policy::load_current(tx)?;
        if let Some(principal) = principal {
            let writes = access == ApiAccess::Write;
            identity::authorize(&principal, &policy.roles, scope, writes, Reach::Business)?;
        }
        if !policy.packs.has(pack) {
            let what = format!("The tenant does not have the pack {pack}.");
            return Err(OperationError::new(OperationErrorCode::NotFound, what)
                .hint("Its policy.toml lists the packs it has."));
        }
        Ok(())
    })
    .await
}

type Answer<'a> = Pin<Box<dyn Future<Output = Result<Value, OperationError>> + Send + 'a>>;

/// What surfaces know of an operation: what it asks for, and what it shows.
#[derive(Clone, Copy)]
pub struct OperationShape {
    pub spec: OperationSpec,
    input: fn() -> (String, RefOr<Schema>),
    view: fn() -> (String, RefOr<Schema>),
    components: fn(&mut Vec<(String, RefOr<Schema>)>),
    describe: fn(&Value) -> Result<Value, OperationError>,
    keeps_view: bool,
    render: Option<RenderView>,
}

/// One line of a list of operations.
pub struct OperationEntry<S> {
    shape: OperationShape,
    run: for<'a> fn(&'a OperationCall<S>, Value) -> Answer<'a>,
}

impl<S> Clone for OperationEntry<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for OperationEntry<S> {}

impl<S> Deref for OperationEntry<S> {
    type Target = OperationShape;

    fn deref(&self) -> &OperationShape {
        &self.shape
    }
}

impl<S: Sync + 'static> OperationEntry<S> {
    pub const fn of<O: Operation<S>>() -> Self {
        let shape = OperationShape {
            spec: O::SPEC,
            input: || (O::Input::name().into_owned(), <O::Input as PartialSchema>::schema()),
            view: || (O::View::name().into_owned(), <O::View as PartialSchema>::schema()),
            components: |all| {
                O::Input::schemas(all);
                O::View::schemas(all);
            },
            describe: |input| {
                O::describe_request(&parse_input(input.clone())?).map_err(OperationError::internal)
            },
            keeps_view: O::KEEPS_VIEW,
            render: O::RENDER,
        };
        Self { shape, run: |call, input| Box::pin(run_json::<S, O>(call, input)) }
    }

    /// Runs it with an input that is read from JSON; gives its view as JSON. Whoever may not is refused before it sees anything.
    // Not for each operation's own types: there are a hundred of them.
    pub async fn execute(&self, call: &OperationCall<S>, input: Value) -> Result<Value, OperationError> {
        check(&self.spec, call)?;
        check_policy(&self.spec, call).await?;
        let asked = call.idempotency.is_given().then(|| (self.describe)(&input)).transpose()?;
        let claim = match idempotency::begin(call, &self.spec, asked).await? {
            Request::Unnamed => return (self.run)(call, input).await,
            Request::Answered(view) => return Ok(view),
            Request::New(claim) => claim,
        };
        let view = (self.run)(call, input).await?;
        let is_kept = self.keeps_view && call.idempotency.keeps_answer();
        idempotency::keep(call, claim, is_kept.then(|| view.clone())).await;
        Ok(view)
    }
}

impl OperationShape {
    /// The input's own schema, an object.
    pub fn input_schema(&self) -> RefOr<Schema> {
        (self.input)().1
    }

    /// The input's fields in their order.
    pub fn fields(&self) -> Vec<OperationField> {
        let RefOr::T(Schema::Object(object)) = self.input_schema() else { return Vec::new() };
        let required = object.required;
        object
            .properties
            .into_iter()
            .map(|(name, schema)| OperationField::new(name, schema, &required))
            .collect()
    }

    /// What of the input is sent as a body, and what the document calls it; none where all of it stands in the URL.
    pub fn body_schema(&self) -> Option<(String, RefOr<Schema>)> {
        let (name, RefOr::T(Schema::Object(mut object))) = (self.input)() else { return None };
        object.properties.retain(|name, _| !self.is_in_path(name));
        object.required.retain(|name| !self.is_in_path(name));
        let has_body = self.spec.method != RouteMethod::Get && !object.properties.is_empty();
        has_body.then_some((name, RefOr::T(Schema::Object(object))))
    }

    /// Whether a body has to be sent.
    pub fn needs_body(&self) -> bool {
        self.fields().iter().any(|field| field.is_required && !self.is_in_path(&field.name))
    }

    fn is_in_path(&self, field: &str) -> bool {
        self.spec.path_fields().any(|known| known == field)
    }

    /// The view's name in the document, and its schema.
    pub fn view_schema(&self) -> (String, RefOr<Schema>) {
        (self.view)()
    }

    /// Schemas that the two refer to.
    pub fn component_schemas(&self) -> Vec<(String, RefOr<Schema>)> {
        let mut all = Vec::new();
        (self.components)(&mut all);
        all
    }

    /// Its view in words, where names and values do not do.
    pub fn render(&self, view: &Value) -> Option<String> {
        self.render?(view)
    }

    /// Whether its view may be kept, and so shown to others than whoever did it.
    pub const fn keeps_view(&self) -> bool {
        self.keeps_view
    }

    /// Whether the caller may do it, with such an input. Nothing is done.
    pub async fn check<S: Sync>(&self, call: &OperationCall<S>, input: &Value) -> Result<(), OperationError> {
        check(&self.spec, call)?;
        check_policy(&self.spec, call).await?;
        (self.describe)(input).map(drop)
    }
}

/// A field of an input.
#[derive(Clone)]
pub struct OperationField {
    pub name: String,
    /// What the input's documentation says of it.
    pub description: Option<String>,
    /// Of a value that is there.
    pub schema: RefOr<Schema>,
    pub is_required: bool,
}

impl OperationField {
    fn new(name: String, mut schema: RefOr<Schema>, required: &[String]) -> Self {
        let mut description = None;
        // What may be left out is another schema or null.
        if let RefOr::T(Schema::OneOf(choice)) = &schema
            && let [RefOr::Ref(only), _] | [_, RefOr::Ref(only)] = choice.items.as_slice()
        {
            schema = RefOr::Ref(only.clone());
        }
        if let RefOr::Ref(other) = &mut schema {
            description = Some(std::mem::take(&mut other.description)).filter(|words| !words.is_empty());
        }
        if let RefOr::T(Schema::Object(object)) = &mut schema {
            description = object.description.take();
            if let SchemaType::Array(types) = &object.schema_type
                && let Some(only) = types.iter().find(|one| **one != Type::Null)
            {
                object.schema_type = SchemaType::Type(only.clone());
            }
        }
        Self { is_required: required.contains(&name), name, description, schema }
    }
}

async fn run_json<S: Sync, O: Operation<S>>(
    call: &OperationCall<S>,
    input: Value,
) -> Result<Value, OperationError> {
    let input: O::Input = parse_input(input)?;
    let view = O::run(call, input).await?;
    serde_json::to_value(view).map_err(|error| {
        OperationError::internal(format!("view of {} can't be written: {error}", type_name::<O>()))
    })
}

fn parse_input<T: DeserializeOwned>(input: Value) -> Result<T, OperationError> {
    serde_path_to_error::deserialize(input).map_err(|error| {
        let path = error.path().to_string();
        let words = error.into_inner().to_string();
        match path.as_str() {
            "." => {
                OperationError::new(OperationErrorCode::Invalid, format!("The input is invalid: {words}."))
            }
            field => OperationError::field(field, &words),
        }
    })
}
