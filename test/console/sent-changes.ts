import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { SegmentsChange } from "../../src/console/transcript/edit/model/changes.ts";

/**
 * Returns the changes that a page sends to ModifySegments while something is done. The page reads
 * them, since Chromium's debugger does not show the content of a Blob.
 */
export async function sentChanges(
  page: Page,
  act: () => Promise<void>,
): Promise<readonly SegmentsChange[]> {
  await page.evaluate(`(() => {
    const send = fetch;
    globalThis.sentBody = new Promise((resolve, reject) => {
      globalThis.fetch = (path, call) => {
        if (String(path).endsWith(":modifySegments")) {
          globalThis.fetch = send;
          call.body.text().then(resolve, reject);
        }
        return send(path, call);
      };
    });
  })()`);
  await act();
  const body: unknown = JSON.parse(await page.evaluate("globalThis.sentBody"));
  assert.ok(typeof body === "object" && body && "changes" in body && Array.isArray(body.changes));
  return body.changes;
}
