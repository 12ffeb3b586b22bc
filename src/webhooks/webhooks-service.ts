import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import { audited } from "../auth/audit-log.ts";
import { callerOf } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import type { Webhooks } from "../gen/hlust/webhooks/v1/webhooks_pb.ts";
import type { MediaAllowList } from "../media/media-url.ts";
import { checkDisplayName } from "../std/display-name.ts";
import { newId } from "../std/ids.ts";
import type { Log } from "../std/log.ts";
import type { PageTokens } from "../std/page-token.ts";
import { ServiceError, Violations } from "../std/service-error.ts";
import { checkEventTypes, checkUrl } from "./check-webhook.ts";
import { deliveryMethods } from "./delivery-methods.ts";
import { readChange } from "./read-change.ts";
import { newSecret, secretText } from "./sign-delivery.ts";
import { webhookMessage } from "./webhook-messages.ts";
import { webhookIdIn, webhookNotFound } from "./webhook-names.ts";
import {
  changeWebhook,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  rotateSecret,
  webhooksMax,
} from "./webhook-store.ts";

/** The RPCs of hlust.webhooks.v1. */
export function createWebhooksService(parts: {
  readonly db: Kysely<Tables>;
  readonly pageTokens: PageTokens;
  /** The addresses that URLs may reach in addition to public ones. */
  readonly allow: MediaAllowList;
  readonly log: Log;
  readonly now?: () => number;
}): ServiceImpl<typeof Webhooks> {
  const { db, allow, now = Date.now } = parts;
  return {
    ...deliveryMethods(parts),

    async createWebhook({ url, displayName, eventTypes: names }, context) {
      const caller = callerOf(context);
      const { accountId } = caller;
      const violations = new Violations();
      checkUrl(url, allow, violations);
      checkDisplayName(displayName, violations);
      const eventTypes = checkEventTypes(names, violations);
      violations.throwIfAny();
      const id = newId(now());
      const secret = newSecret();
      const webhook = { id, accountId, url, displayName, eventTypes, secret };
      const row = await audited(parts, caller, async (trx, record) => {
        const inserted = await insertWebhook(trx, webhook);
        if (!inserted) throw tooManyWebhooks();
        const details = { displayName, eventTypes: eventTypes.join(",") };
        await record({ action: "webhook.create", resource: `webhooks/${id}`, details });
        return inserted;
      });
      return { webhook: webhookMessage(row, now()), secret: secretText(secret) };
    },

    async listWebhooks(_request, context) {
      const rows = await listWebhooks(db, callerOf(context).accountId);
      return { webhooks: rows.map((row) => webhookMessage(row, now())) };
    },

    async getWebhook({ name }, context) {
      const row = await findWebhook(db, callerOf(context).accountId, webhookIdIn(name));
      if (!row) throw webhookNotFound(name);
      return webhookMessage(row, now());
    },

    async updateWebhook(request, context) {
      const caller = callerOf(context);
      const { accountId } = caller;
      const name = request.webhook?.name ?? "";
      const id = webhookIdIn(name);
      if (!(await findWebhook(db, accountId, id))) throw webhookNotFound(name);
      const change = readChange(request, allow);
      const row = await audited(parts, caller, async (trx, record) => {
        const changed = await changeWebhook(trx, accountId, id, change);
        if (!changed) throw webhookNotFound(name);
        const details = { fields: Object.keys(change).join(",") };
        await record({ action: "webhook.update", resource: name, details });
        return changed;
      });
      return webhookMessage(row, now());
    },

    async deleteWebhook({ name }, context) {
      const caller = callerOf(context);
      const id = webhookIdIn(name);
      await audited(parts, caller, async (trx, record) => {
        if (!(await deleteWebhook(trx, caller.accountId, id))) throw webhookNotFound(name);
        await record({ action: "webhook.delete", resource: name });
      });
      return create(EmptySchema);
    },

    async rotateWebhookSecret({ name }, context) {
      const caller = callerOf(context);
      const id = webhookIdIn(name);
      const secret = newSecret();
      const row = await audited(parts, caller, async (trx, record) => {
        const rotated = await rotateSecret(trx, caller.accountId, id, secret);
        if (!rotated) throw webhookNotFound(name);
        await record({ action: "webhook.rotate_secret", resource: name });
        return rotated;
      });
      return { webhook: webhookMessage(row, now()), secret: secretText(secret) };
    },
  };
}

function tooManyWebhooks(): ServiceError {
  return new ServiceError(
    "resource_exhausted",
    `the account has ${webhooksMax} webhooks: delete one first`,
    { reason: "TOO_MANY_WEBHOOKS" },
  );
}
