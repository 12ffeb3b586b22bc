import { create } from "@bufbuild/protobuf";
import {
  WebhookSchema,
  type UpdateWebhookRequest,
  type Webhook,
} from "../gen/hlust/webhooks/v1/webhooks_pb.ts";
import type { MediaAllowList } from "../media/media-url.ts";
import { checkDisplayName } from "../std/display-name.ts";
import { shown, Violations } from "../std/service-error.ts";
import { checkEventTypes, checkUrl } from "./check-webhook.ts";
import type { WebhookChange } from "./webhook-store.ts";

/** The fields of a webhook that its owner may change. */
const changeable = ["url", "displayName", "eventTypes", "disabled"] as const;
type Changeable = (typeof changeable)[number];

/** Returns what an update changes. Throws all violations in the fields that the update names. */
export function readChange(request: UpdateWebhookRequest, allow: MediaAllowList): WebhookChange {
  const webhook = request.webhook ?? create(WebhookSchema);
  const violations = new Violations();
  const fields = fieldsOf(request, webhook, violations);
  const change: WebhookChange = {};
  if (fields.has("url")) {
    checkUrl(webhook.url, allow, violations);
    change.url = webhook.url;
  }
  if (fields.has("displayName")) {
    checkDisplayName(webhook.displayName, violations);
    change.displayName = webhook.displayName;
  }
  if (fields.has("eventTypes")) change.eventTypes = checkEventTypes(webhook.eventTypes, violations);
  if (fields.has("disabled")) change.disabled = webhook.disabled;
  if (violations.isEmpty && fields.size === 0) {
    violations.add("webhook", `at least one of ${changeable.join(", ")} is required`);
  }
  violations.throwIfAny();
  return change;
}

/**
 * Returns the fields that a mask names, in proto or JSON names, or the fields that are set if there
 * is no mask. Output-only fields are skipped.
 */
function fieldsOf(
  { updateMask }: UpdateWebhookRequest,
  webhook: Webhook,
  violations: Violations,
): Set<Changeable> {
  const paths = updateMask?.paths ?? [];
  if (paths.length === 0) return new Set(changeable.filter((field) => isSet(webhook[field])));
  const fields = new Set<Changeable>();
  for (const path of paths) {
    const named = WebhookSchema.fields.find(({ name, jsonName }) =>
      [name, jsonName].includes(path),
    );
    const field = changeable.find((each) => each === named?.localName);
    if (field) fields.add(field);
    else if (!named) violations.add("updateMask", `${shown(path)} is not a field of a webhook`);
  }
  return fields;
}

function isSet(value: string | readonly string[] | boolean): boolean {
  return typeof value === "boolean" ? value : value.length > 0;
}
