import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
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

export interface WebhooksParts {
  readonly db: Kysely<Tables>;
  readonly pageTokens: PageTokens;
  /** What URLs may reach besides public addresses. */
  readonly allow: MediaAllowList;
  readonly log: Log;
  readonly now?: () => number;
}

/** The RPCs of hlust.webhooks.v1. */
export function createWebhooksService(parts: WebhooksParts): ServiceImpl<typeof Webhooks> {
  const { db, allow, log, now = Date.now } = parts;
  return {
    ...deliveryMethods(parts),

    async createWebhook({ url, displayName, eventTypes: names }, context) {
      const { accountId, keyId } = callerOf(context);
      const violations = new Violations();
      checkUrl(url, allow, violations);
      checkDisplayName(displayName, violations);
      const eventTypes = checkEventTypes(names, violations);
      violations.throwIfAny();
      const id = newId(now());
      const secret = newSecret();
      const webhook = { id, accountId, url, displayName, eventTypes, secret };
      const row = await insertWebhook(db, webhook);
      if (!row) throw tooManyWebhooks();
      log.info({ accountId, by: keyId, webhookId: id }, "webhook.created");
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
      const { accountId, keyId } = callerOf(context);
      const name = request.webhook?.name ?? "";
      const id = webhookIdIn(name);
      if (!(await findWebhook(db, accountId, id))) throw webhookNotFound(name);
      const change = readChange(request, allow);
      const row = await changeWebhook(db, accountId, id, change);
      if (!row) throw webhookNotFound(name);
      const fields = Object.keys(change);
      log.info({ accountId, by: keyId, webhookId: id, fields }, "webhook.changed");
      return webhookMessage(row, now());
    },

    async deleteWebhook({ name }, context) {
      const { accountId, keyId } = callerOf(context);
      const id = webhookIdIn(name);
      if (!(await deleteWebhook(db, accountId, id))) throw webhookNotFound(name);
      log.info({ accountId, by: keyId, webhookId: id }, "webhook.deleted");
      return create(EmptySchema);
    },

    async rotateWebhookSecret({ name }, context) {
      const { accountId, keyId } = callerOf(context);
      const id = webhookIdIn(name);
      const secret = newSecret();
      const row = await rotateSecret(db, accountId, id, secret);
      if (!row) throw webhookNotFound(name);
      log.info({ accountId, by: keyId, webhookId: id }, "webhook.secret_rotated");
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
