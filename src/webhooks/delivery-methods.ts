import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import { callerOf } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import type { Webhooks } from "../gen/hlust/webhooks/v1/webhooks_pb.ts";
import type { Log } from "../std/log.ts";
import { readPageRequest } from "../std/page-request.ts";
import type { PageTokens } from "../std/page-token.ts";
import { invalidArgument, ServiceError } from "../std/service-error.ts";
import { insertTest, listDeliveries, redeliver, testsMax } from "./delivery-store.ts";
import { deliveryMessage } from "./webhook-messages.ts";
import { deliveryIdsIn, deliveryNotFound, webhookIdIn, webhookNotFound } from "./webhook-names.ts";
import { findWebhook } from "./webhook-store.ts";

/** The RPCs for deliveries. */
export function deliveryMethods({
  db,
  pageTokens,
  log,
  now = Date.now,
}: {
  readonly db: Kysely<Tables>;
  readonly pageTokens: PageTokens;
  readonly log: Log;
  readonly now?: () => number;
}) {
  return {
    async testWebhook({ name }, context) {
      const { accountId, actor } = callerOf(context);
      const id = webhookIdIn(name);
      const webhook = await findWebhook(db, accountId, id);
      if (!webhook) throw webhookNotFound(name);
      if (webhook.disabled_at) throw webhookDisabled();
      const row = await insertTest(db, id, new Date(now()));
      if (!row) throw tooManyTests();
      log.info({ accountId, by: actor, webhookId: id, deliveryId: row.id }, "webhook.tested");
      return deliveryMessage(row);
    },

    async listWebhookDeliveries(request, context) {
      const { accountId } = callerOf(context);
      const id = webhookIdIn(request.parent);
      if (!(await findWebhook(db, accountId, id))) throw webhookNotFound(request.parent);
      const scope = { collection: `${request.parent}/deliveries`, accountId, filter: "" };
      const page = readPageRequest(pageTokens, scope, request);
      if (Array.isArray(page)) throw invalidArgument(page);
      const { deliveries, next } = await listDeliveries(db, id, page);
      return {
        deliveries: deliveries.map(deliveryMessage),
        nextPageToken: next ? pageTokens.write(scope, next) : "",
      };
    },

    async redeliverWebhookDelivery({ name }, context) {
      const { accountId, actor } = callerOf(context);
      const { webhookId, deliveryId } = deliveryIdsIn(name);
      const webhook = await findWebhook(db, accountId, webhookId);
      if (!webhook) throw deliveryNotFound(name);
      if (webhook.disabled_at) throw webhookDisabled();
      const row = await redeliver(db, webhookId, deliveryId);
      if (!row) throw deliveryNotFound(name);
      log.info({ accountId, by: actor, webhookId, deliveryId }, "webhook.redelivered");
      return deliveryMessage(row);
    },
  } satisfies Partial<ServiceImpl<typeof Webhooks>>;
}

function webhookDisabled(): ServiceError {
  return new ServiceError("failed_precondition", "the webhook is disabled: enable it first", {
    reason: "WEBHOOK_DISABLED",
  });
}

function tooManyTests(): ServiceError {
  return new ServiceError(
    "resource_exhausted",
    `${testsMax} tests of this webhook wait to be delivered already`,
    { reason: "TOO_MANY_TESTS" },
  );
}
