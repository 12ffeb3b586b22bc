import { idIn, isId } from "../std/ids.ts";
import { ServiceError, shown } from "../std/service-error.ts";

/**
 * Returns the id in webhooks/<id>. Throws not_found for a malformed name, as for an absent webhook.
 */
export function webhookIdIn(name: string): string {
  const id = idIn("webhooks", name);
  if (id === undefined) throw webhookNotFound(name);
  return id;
}

/**
 * Returns the ids in webhooks/<id>/deliveries/<id>. Throws not_found, as for an absent delivery.
 */
export function deliveryIdsIn(name: string): { webhookId: string; deliveryId: string } {
  const [webhooks, webhookId = "", deliveries, deliveryId = "", ...rest] = name.split("/");
  const isName = webhooks === "webhooks" && deliveries === "deliveries" && rest.length === 0;
  if (!isName || !isId(webhookId) || !isId(deliveryId)) throw deliveryNotFound(name);
  return { webhookId, deliveryId };
}

/**
 * Returns the error for a webhook that does not exist or belongs to another account (docs/api.md,
 * Errors).
 */
export function webhookNotFound(name: string): ServiceError {
  return new ServiceError("not_found", `there is no webhook ${shown(name)}`, {
    reason: "WEBHOOK_NOT_FOUND",
  });
}

export function deliveryNotFound(name: string): ServiceError {
  return new ServiceError("not_found", `there is no delivery ${shown(name)}`, {
    reason: "DELIVERY_NOT_FOUND",
  });
}
