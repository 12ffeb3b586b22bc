// The jobs page: jobs are submitted by URL, followed and cancelled. Jobs that fail show a reason
// and are submitted again.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { scriptedOrders } from "../../src/engines/scripted/scripted-engine.ts";
import { joined, speak } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { submit } from "../spec/jobs.ts";
import { openMediaHost, type MediaHost } from "../spec/media-host.ts";
import { until } from "../fixtures/until.ts";
import { expectProblems } from "./expected-problems.ts";
import { checkLooks, openTestPages, show, someLooks, type TestPages } from "./open-test-pages.ts";

const second = 16_000;
const parts = new AsyncDisposableStack();
let pages: TestPages;
let host: MediaHost;

before(async () => {
  host = parts.use(
    await openMediaHost({
      "/fundur-fjarlaganefndar.wav": speak("good morning to all of you"),
      "/vefur.mp3": Buffer.from("<!doctype html><html><body>Ekki upptaka</body></html>"),
      "/thogn.wav": wavOf(new Int16Array(second)),
      // The engine recognizes the first 2 s and hangs in the last 2 s.
      "/langur.wav": wavOf(
        joined(
          new Int16Array(2 * second).fill(1),
          new Int16Array(second),
          new Int16Array(2 * second).fill(scriptedOrders.hangOnThread),
        ),
      ),
    }),
  );
  pages = parts.use(await openTestPages());
});
after(() => parts.disposeAsync());

const desktop = { size: "desktop", language: "is", theme: "light" } as const;

function row(page: Page, subject: string): Locator {
  return page.locator(".jobs-rows li", { hasText: subject });
}

async function openUrlForm(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Ný uppskrift" }).click();
  await page.getByRole("radio", { name: "Slóð á netinu" }).check();
}

const field = (page: Page, name: string) => page.getByRole("textbox", { name, exact: true });

async function said(page: Page): Promise<string> {
  return (await page.locator("output.unseen").textContent()) ?? "";
}

test("an empty page shows what to do first, and a job can be submitted with only the keyboard", async () => {
  await using page = await pages.open("/jobs");
  await page.getByRole("heading", { name: "Engin verk enn" }).waitFor();
  await checkLooks(page, "jobs-empty", someLooks);
  await show(page, desktop);

  await page.getByRole("button", { name: "Ný uppskrift" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Ný uppskrift" }).waitFor();
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.getByRole("radio", { name: "Slóð á netinu" }).isChecked(), true);
  await page.keyboard.press("Tab");
  await page.keyboard.type(`${host.address}/fundur-fjarlaganefndar.wav`);
  assert.equal(await field(page, "Titill").getAttribute("placeholder"), "fundur-fjarlaganefndar");
  await page.keyboard.press("Enter");
  const title = row(page, "fundur-fjarlaganefndar").getByRole("link");
  await title.waitFor();
  assert.equal(await said(page), "Uppskrift tilbúin: fundur-fjarlaganefndar");
  // The form is closed, and the focus is on the button that opened it.
  await page.locator("button:focus", { hasText: "Ný uppskrift" }).waitFor();
  const { json } = await pages.service.call("GET", "/v1alpha1/transcriptjob");
  assert.equal(await title.getAttribute("href"), `/console/${json.jobs[0].transcript}`);
  // The row has the length of the recording, and the model.
  assert.match(await row(page, "fundur-fjarlaganefndar").innerText(), /scripted[^]*\b0:0[1-9]\b/);
});

test("a job's metadata is stored unchanged, including Icelandic letters and scripts", async () => {
  await using page = await pages.open("/jobs?new");
  await page.getByRole("radio", { name: "Slóð á netinu" }).check();
  const metadata = {
    fileType: "AUDIO",
    languageCode: "en-US",
    subject: "Ævar Örn Þórðarson á Hólmavík <img src=x onerror=alert(1)>",
    description: "Um „sjó“ & 'land'\n<script>alert(1)</script>",
    keywords: ["Öræfi", "þingfundur", "</title><svg onload=alert(1)>"],
  };
  await field(page, "Slóð").fill(`${host.address}/thogn.wav?þ=ð`);
  await field(page, "Titill").fill(metadata.subject);
  await page.getByLabel("Hvaða mál er talað?").selectOption("Enska");
  await page.getByText("Lýsing og efnisorð").click();
  await field(page, "Lýsing").fill(metadata.description);
  await field(page, "Efnisorð").fill(` ${metadata.keywords.join(" , ")},`);
  await checkLooks(page, "jobs-form");
  await show(page, desktop);
  // The form keeps its content while another page is open.
  await page.getByRole("navigation").getByRole("link", { name: "Lyklar" }).click();
  await page.getByRole("heading", { level: 1, name: "Lyklar" }).waitFor();
  await page.getByRole("navigation").getByRole("link", { name: "Verk" }).click();
  assert.equal(await field(page, "Lýsing").inputValue(), metadata.description);
  // The host returns 404, because it has no path with this query.
  await page.getByRole("button", { name: "Skrifa upp" }).click();
  const failed = row(page, metadata.subject);
  await failed.getByText("Ekkert er á slóðinni: vefþjónninn svaraði 404.").waitFor();
  for (const keyword of metadata.keywords) await failed.getByText(keyword).waitFor();
  const { json } = await pages.service.call("GET", "/v1alpha1/transcriptjob");
  const { originalUri, ...kept } = json.jobs[0].transcriptMetadata;
  assert.deepEqual(kept, metadata);
  assert.equal(originalUri, `${host.address}/thogn.wav?þ=ð`);
});

test("the service's violations are shown at their fields, and no typed text is lost", async () => {
  await using page = await pages.open("/jobs");
  expectProblems(page, /^400 POST .*transcriptjob:submit$/);
  await openUrlForm(page);
  await page.getByText("Lýsing og efnisorð").click();
  const long = "þ".repeat(101);
  await field(page, "Efnisorð").fill(`Öræfi, ${long}`);
  const uris = [
    ["", "Þetta vantar."],
    ["ftp://ruv.is/þáttur.mp3", "Slóðin þarf að byrja á https:// eða http://."],
    ["https://ruv.is/nýr þáttur.mp3", "Í slóðinni er bil eða tákn sem á þar ekki heima."],
    ["https://anna:x@ruv.is/a.mp3", "Í slóðinni er notandanafn eða lykilorð."],
    ["https://10.0.0.1/a.mp3", "Slóðin er á lokuðu neti, sem þjónustan sækir ekkert á."],
    ["https://", "Þetta er ekki heil slóð."],
  ] as const;
  for (const [uri, problem] of uris) {
    await field(page, "Slóð").fill(uri);
    await page.getByRole("button", { name: "Skrifa upp" }).click();
    await page.getByText(problem).waitFor();
    await page.locator("input[type=url][aria-invalid=true]:focus").waitFor();
  }
  await page.getByText(`„${long.slice(0, 30)}“: 101 stafur; mest 100 komast fyrir.`).waitFor();
  assert.equal(await field(page, "Efnisorð").inputValue(), `Öræfi, ${long}`);
  await checkLooks(page, "jobs-form-wrong", someLooks);
  const { json } = await pages.service.call("GET", "/v1alpha1/transcriptjob");
  assert.equal(json.jobs.length, 2);
});

test("a running job's progress is shown, and the page asks for confirmation before the job is cancelled", async () => {
  await using page = await pages.open("/jobs");
  await page.getByRole("list", { name: "Verk" }).waitFor();
  // Updates come only from the watch, because the list does not get another response.
  await page.route(/v1alpha1.transcriptjob$/, () => Promise.withResolvers<void>().promise);
  await openUrlForm(page);
  await field(page, "Slóð").fill(`${host.address}/langur.wav`);
  await field(page, "Titill").fill("Óundirbúinn fyrirspurnatími");
  await page.getByRole("button", { name: "Skrifa upp" }).click();
  const running = row(page, "Óundirbúinn fyrirspurnatími");
  const line = running.getByRole("progressbar", { name: "Framvinda: Óundirbúinn fyrirspurnatími" });
  await until(async () => Number(await line.getAttribute("value")) > 0);
  await running.getByText(/Skrifa upp, \d+ %/).waitFor();
  await until(async () => /^[1-9]\d*% · Verk · Hlust$/.test(await page.title()));
  // Other pages show it too.
  await page.getByRole("navigation").getByRole("link", { name: "Lyklar" }).click();
  await until(async () => /^[1-9]\d*% · Lyklar · Hlust$/.test(await page.title()));
  await page.goBack();
  await running.getByText(/Skrifa upp, \d+ %/).waitFor();
  await running.getByRole("button", { name: "Hætta við" }).click();
  const question = running.getByRole("group");
  await question.getByText("Viltu hætta við?").waitFor();
  await checkLooks(page, "jobs-running");
  await show(page, desktop);
  // The focus is on the button that loses nothing; Escape does the same.
  await page.locator("button:focus", { hasText: "Nei, halda áfram" }).waitFor();
  await page.keyboard.press("Enter");
  await page.locator("button:focus", { hasText: "Hætta við" }).waitFor();
  await page.keyboard.press("Enter");
  await question.getByText("Viltu hætta við?").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("button:focus", { hasText: "Hætta við" }).waitFor();
  await page.keyboard.press("Enter");
  await question.getByRole("button", { name: "Já, hætta við" }).press("Enter");
  await running.getByText("Hætt við", { exact: true }).waitFor();
  assert.equal(await said(page), "Hætt við: Óundirbúinn fyrirspurnatími");
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

test("a hidden tab shows a notification about a job that ends, if the user has asked for it", async () => {
  await using page = await pages.open("/nowhere");
  const shown: string[] = [];
  await page.exposeFunction("noteNotification", (text: string) => shown.push(text));
  // The browser of tests has no place for notifications: what would be shown is recorded.
  await page.addInitScript(`
    let permission = "default";
    window.isHidden = false;
    Object.defineProperty(Document.prototype, "hidden", { get: () => window.isHidden });
    window.Notification = class extends EventTarget {
      static get permission() { return permission; }
      static async requestPermission() {
        noteNotification("asked");
        return (permission = window.answer ?? "denied");
      }
      close() { noteNotification("closed"); }
      constructor(title, { body, tag }) {
        super();
        window.lastNotification = this;
        noteNotification(title + " | " + body + " | " + tag.split("/")[0]);
      }
    };`);
  await page.goto(`${pages.service.address}/console/jobs`);
  const choice = page.getByRole("checkbox", { name: "Láta vita þegar verki lýkur" });
  await choice.waitFor();
  assert.deepEqual(shown, []);
  await choice.click();
  await page.getByText("Vafrinn leyfir ekki tilkynningar frá þessari síðu.").waitFor();
  assert.equal(await choice.isChecked(), false);
  await page.evaluate(`window.answer = "granted"`);
  await choice.click();
  await until(async () => await choice.isChecked());
  await page.getByRole("navigation").getByRole("link", { name: "Lyklar" }).click();
  const begin = async (subject: string): Promise<void> => {
    await submit(pages.service, `${host.address}/vefur.mp3`, { subject });
  };
  await page.evaluate("window.isHidden = true");
  await begin("Leyndur fundur");
  await until(async () => await Promise.resolve(shown.length === 3));
  assert.deepEqual(shown.slice(2), [
    "Uppskrift mistókst | Smelltu til að opna Hlust. | transcriptjob",
  ]);
  // A click on the notification of a transcript opens it.
  await submit(pages.service, `${host.address}/thogn.wav`, { subject: "Þögull fundur" });
  await until(async () => await Promise.resolve(shown.length === 4));
  assert.equal(shown[3], "Uppskrift tilbúin | Smelltu til að opna Hlust. | transcriptjob");
  await page.evaluate("window.lastNotification.dispatchEvent(new Event('click'))");
  await page.getByRole("heading", { level: 1, name: "Þögull fundur" }).waitFor();
  assert.equal(shown[4], "closed");
});

test("a failed job shows the reason and can be submitted again; a silent recording does not cause a failure", async () => {
  await using page = await pages.open("/jobs");
  await submit(pages.service, `${host.address}/vefur.mp3`, { subject: "Störf þingsins" });
  await submit(pages.service, `${host.address}/farin.mp3`, { subject: "Viðtal um hlaupið" });
  await submit(pages.service, `${host.address}/thogn.wav`, { subject: "Þögn" });
  await page.reload();
  await row(page, "Störf þingsins").getByText("Þetta er ekki upptaka, heldur vefsíða.").waitFor();
  const gone = row(page, "Viðtal um hlaupið");
  await gone.getByText("vefþjónninn svaraði 404. Athugaðu slóðina").waitFor();
  await row(page, "Þögn").getByRole("link", { name: "Þögn" }).waitFor();
  await checkLooks(page, "jobs");
  await show(page, desktop);
  // States have signs, and the button is at the left below the reason.
  const signs = await page.evaluate<string[]>(
    `[...document.querySelectorAll(".job-state")].map((state) =>
      state.dataset.sign + (getComputedStyle(state, "::before").content.startsWith("none") ? " unseen" : ""))`,
  );
  for (const sign of ["✕", "✓"])
    assert.ok(signs.includes(sign), `${sign} is not in ${signs.join()}`);
  const reason = await gone.locator(".job-reason").boundingBox();
  const again = await gone.getByRole("button", { name: "Reyna aftur" }).boundingBox();
  assert.ok(reason && again && again.y >= reason.y + reason.height && again.x < reason.x + 1);
  // A file that is not a recording cannot be recognized the next time either.
  assert.equal(await row(page, "Störf þingsins").getByRole("button", { name: /Reyna/ }).count(), 0);
  await row(page, "Störf þingsins").getByRole("button", { name: "Fjarlægja: Störf" }).click();
  await row(page, "Störf þingsins").waitFor({ state: "detached" });
  await page.locator(".note", { hasText: "Verkið var fjarlægt: Störf þingsins" }).waitFor();
  await gone.getByRole("button", { name: "Reyna aftur" }).click();
  await gone.getByText("Reynt aftur").waitFor();
  await until(async () => (await gone.getByText("svaraði 404").count()) === 2);
});

test("without a watch the list is polled, which also shows jobs that others submit", async () => {
  await using page = await pages.open("/jobs");
  expectProblems(page, /^net::ERR_FAILED GET .*transcriptjob:watch/);
  await page.route(/:watch\?/, (route) => route.abort());
  await submit(pages.service, `${host.address}/langur.wav`, { subject: "Langur fundur" });
  await page.reload();
  const running = row(page, "Langur fundur");
  await until(async () => Number(await running.getByRole("progressbar").getAttribute("value")) > 0);
  const { json } = await pages.service.call("GET", "/v1alpha1/transcriptjob");
  await pages.service.call("POST", `/v1alpha1/${json.jobs[0].name}:cancel`, {});
  await running.getByText("Hætt við", { exact: true }).waitFor();
});

test("older jobs are loaded as the list is scrolled with the keyboard", async () => {
  await submit(pages.service, `${host.address}/fyrst.mp3`, { subject: "Fyrsta verkið" });
  const uris = Array.from({ length: 50 }, (_, index) => `${host.address}/${index}.mp3`);
  await Promise.all(uris.map((uri) => submit(pages.service, uri, { subject: "Eldra verk" })));
  await until(async () => {
    const { json } = await pages.service.call("GET", "/v1alpha1/transcriptjob");
    return json.jobs.every(({ state }: { state: string }) => state !== "PROCESSING");
  }, 60_000);
  await using page = await pages.open("/jobs");
  const rows = page.getByRole("list", { name: "Verk" }).getByRole("listitem");
  await rows.first().waitFor();
  await page.keyboard.press("End");
  await row(page, "Fyrsta verkið").waitFor();
  assert.ok((await rows.count()) > 50);
  assert.equal(await page.getByRole("button", { name: "Sýna eldri verk" }).count(), 0);
});

test("finished jobs are taken off the list together, which can be undone; the others stay", async () => {
  await using page = await pages.open("/jobs");
  const rows = page.getByRole("list", { name: "Verk" }).getByRole("listitem");
  await rows.first().waitFor();
  await submit(pages.service, `${host.address}/langur.wav`, { subject: "Fundur í gangi" });
  const running = row(page, "Fundur í gangi");
  await running.waitFor();
  const stored = async () =>
    (await pages.service.call("GET", "/v1alpha1/transcriptjob?pageSize=1000")).json.jobs;
  const all = (await stored()).length;
  assert.ok(all > 51, "more than one page of the list");
  const remove = page.getByRole("button", { name: "Fjarlægja lokin verk" });
  const note = page.getByText(`Tekið af listanum: ${all - 1} verk`).and(page.locator("span"));
  await remove.press("Enter");
  await note.waitFor();
  await until(async () => (await rows.count()) === 1);
  await checkLooks(page, "jobs-finished-removed", someLooks);
  await show(page, desktop);
  assert.equal(await remove.count(), 0);
  // Nothing is removed while it can be undone. The focus is on the button that undoes it.
  await page.locator("button:focus", { hasText: "Taka aftur" }).waitFor();
  await page.keyboard.press("Enter");
  await until(async () => (await rows.count()) > 50);
  assert.equal((await stored()).length, all);
  assert.equal(await note.count(), 0);
  // The focus is on the title of the page, because the button that was pressed is gone.
  await page.locator("h1:focus").waitFor();

  await remove.press("Enter");
  await note.waitFor();
  // Another page ends the removal.
  await page.getByRole("navigation").getByRole("link", { name: "Lyklar" }).click();
  await until(async () => (await stored()).length === 1, 60_000);
  await page.goBack();
  await running.waitFor();
  assert.equal(await rows.count(), 1);
  await pages.service.call("POST", `/v1alpha1/${(await stored())[0].name}:cancel`, {});
  await remove.click();
  await page.getByRole("button", { name: "Loka", exact: true }).click();
  await until(async () => (await stored()).length === 0);
  await page.getByRole("heading", { name: "Engin verk enn" }).waitFor();
  await page.locator("h1:focus").waitFor();
});

test("new jobs ask for punctuation and digits, unless the user chose otherwise the last time", async () => {
  await using page = await pages.open("/jobs?new");
  const choice = page.getByRole("checkbox", { name: "Með greinarmerkjum og tölustöfum" });
  const sent = async (name: string) => {
    await page.getByRole("radio", { name: "Slóð á netinu" }).check();
    await field(page, "Slóð").fill(`${host.address}/${name}.wav`);
    const requested = page.waitForRequest(/transcriptjob:submit$/);
    await page.getByRole("button", { name: "Skrifa upp" }).click();
    const { enableFormatting, enableAutomaticPunctuation } = (await requested).postDataJSON();
    await row(page, name).getByText("Ekkert er á slóðinni").waitFor();
    return [enableFormatting, enableAutomaticPunctuation];
  };
  assert.equal(await choice.isChecked(), true);
  assert.deepEqual(await sent("skrifad"), [true, true]);
  await page.getByRole("button", { name: "Ný uppskrift" }).click();
  await choice.uncheck();
  assert.deepEqual(await sent("ord"), [undefined, undefined]);
  // The address opens the form.
  await page.reload();
  await choice.waitFor();
  assert.equal(await choice.isChecked(), false);
  // Another attempt is written as the first one, whatever was chosen since then.
  const again = page.waitForResponse(/transcriptjob\/[\da-f-]+:retry$/);
  await page.getByRole("button", { name: "Reyna aftur: ord", exact: true }).click();
  assert.equal((await again).status(), 200);
  await choice.check();
  assert.deepEqual(await sent("tolur"), [true, true]);
});

test("a new recording has the language that was used last, or else that of the console", async () => {
  const spoken = (page: Page) => page.getByRole("combobox", { name: /talað|spoken/ });
  const look = { size: "desktop", language: "en", theme: "light" } as const;
  await using page = await pages.open("/jobs?new", { look });
  await until(async () => (await spoken(page).inputValue()) === "en-US");
  await page.getByRole("radio", { name: "URL" }).check();
  await spoken(page).selectOption("is-IS");
  await page
    .getByLabel("URL", { exact: true })
    .and(page.getByRole("textbox"))
    .fill(`${host.address}/thogn.wav?mál`);
  const submitted = page.waitForResponse(/transcriptjob:submit$/);
  await page.keyboard.press("Enter");
  assert.equal((await submitted).status(), 200);
  await page.goto(`${pages.service.address}/console/jobs?new`);
  await until(async () => (await spoken(page).inputValue()) === "is-IS");
  await page.goto(`${pages.service.address}/console/live`);
  const iSpeak = page.getByRole("combobox", { name: "I speak" });
  await until(async () => (await iSpeak.inputValue()) === "is-IS");
});
