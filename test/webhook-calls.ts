import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  DeleteWebhookRequestSchema,
  GetWebhookRequestSchema,
  ListWebhookDeliveriesRequestSchema,
  ListWebhookDeliveriesResponseSchema,
  ListWebhooksRequestSchema,
  RedeliverWebhookDeliveryRequestSchema,
  RotateWebhookSecretRequestSchema,
  TestWebhookRequestSchema,
  UpdateWebhookRequestSchema,
  WebhookDeliverySchema,
  WebhookSchema,
} from "../src/gen/hlust/webhooks/v1/webhooks_pb.ts";
import type { WebhooksFixture } from "./webhooks-fixture.ts";

/** The methods of the webhooks' service, each called by an account. */
export function webhookCalls({ service, call }: Pick<WebhooksFixture, "service" | "call">) {
  const get = async (account: string, name: string) =>
    create(
      WebhookSchema,
      await service.getWebhook(create(GetWebhookRequestSchema, { name }), call(account)),
    );
  const update = async (
    account: string,
    webhook: MessageInitShape<typeof WebhookSchema>,
    ...paths: string[]
  ) =>
    create(
      WebhookSchema,
      await service.updateWebhook(
        create(UpdateWebhookRequestSchema, { webhook, updateMask: { paths } }),
        call(account),
      ),
    );
  const list = async (account: string) =>
    (await service.listWebhooks(create(ListWebhooksRequestSchema), call(account))).webhooks ?? [];
  const sendTest = async (account: string, name: string) =>
    create(
      WebhookDeliverySchema,
      await service.testWebhook(create(TestWebhookRequestSchema, { name }), call(account)),
    );
  const deliveries = async (account: string, parent: string, pageSize = 0, pageToken = "") =>
    create(
      ListWebhookDeliveriesResponseSchema,
      await service.listWebhookDeliveries(
        create(ListWebhookDeliveriesRequestSchema, { parent, pageSize, pageToken }),
        call(account),
      ),
    );
  const redeliver = async (account: string, name: string) =>
    create(
      WebhookDeliverySchema,
      await service.redeliverWebhookDelivery(
        create(RedeliverWebhookDeliveryRequestSchema, { name }),
        call(account),
      ),
    );
  const rotate = async (account: string, name: string) =>
    await service.rotateWebhookSecret(
      create(RotateWebhookSecretRequestSchema, { name }),
      call(account),
    );
  const remove = async (account: string, name: string) =>
    await service.deleteWebhook(create(DeleteWebhookRequestSchema, { name }), call(account));
  return { get, update, list, sendTest, deliveries, redeliver, rotate, remove };
}
