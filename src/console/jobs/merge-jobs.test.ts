import assert from "node:assert/strict";
import { test } from "node:test";
import { jobOf, type Job, type JobListPage } from "./job.ts";
import { withChanges, withFirstPage, withNewJob, withUpdates } from "./merge-jobs.ts";

function job(name: string, percent: number, second: number): Job {
  return jobOf({
    name,
    state: "PROCESSING",
    progressPercent: percent,
    startTime: "2026-11-22T10:00:00Z",
    lastUpdatedTime: `2026-11-22T10:00:0${second}Z`,
  });
}

function ended(name: string): Job {
  return jobOf({ name, state: "SUCCESS", transcript: "transcripts/t" });
}

function page(...jobs: Job[]): JobListPage {
  return { jobs, nextToken: "" };
}

test("withUpdates() applies newer updates, except to a job that has ended", () => {
  const older = job("a", 10, 1);
  const newer = job("a", 20, 2);
  assert.deepEqual(withUpdates([page(older)], [newer]), [page(newer)]);
  assert.deepEqual(withUpdates([page(newer)], [older]), [page(newer)]);
  assert.deepEqual(withUpdates([page(newer)], [ended("a")]), [page(ended("a"))]);
  assert.deepEqual(withUpdates([page(ended("a"))], [newer]), [page(ended("a"))]);
});

test("withUpdates() returns the same objects for pages without updates", () => {
  const pages = [page(job("a", 1, 1)), page(ended("b"))];
  const merged = withUpdates(pages, [job("a", 2, 2), ended("c")]);
  assert.equal(merged[1], pages[1]);
});

test("withFirstPage() adds new jobs at the top, and returns undefined if some may be missing", () => {
  const shown = [page(job("b", 1, 1)), page(job("a", 1, 1))];
  assert.deepEqual(withFirstPage(shown, page(job("c", 0, 1), job("b", 5, 2))), [
    page(job("c", 0, 1), job("b", 5, 2)),
    page(job("a", 1, 1)),
  ]);
  assert.equal(withFirstPage(shown, page(job("e", 0, 1), job("d", 0, 1))), undefined);
  assert.deepEqual(withFirstPage([page()], page()), [page()]);
  assert.equal(withFirstPage([page()], page(job("a", 0, 1))), undefined);
});

test("withNewJob() adds a job at the top, but not a second time", () => {
  const shown = [page(job("a", 1, 1))];
  const with2 = withNewJob(shown, job("b", 0, 1));
  assert.deepEqual(with2, [page(job("b", 0, 1), job("a", 1, 1))]);
  assert.equal(withNewJob(with2, job("b", 0, 1)), with2);
});

test("withChanges() updates known jobs, adds newer ones at the top, and leaves out older ones", () => {
  const at = (name: string, minute: number): Job =>
    jobOf({ name, state: "PROCESSING", startTime: `2026-11-22T10:0${minute}:00Z` });
  const pages = [page(at("c", 3), at("b", 2))];
  const changed = withChanges(pages, [at("e", 5), ended("b"), at("a", 1), at("d", 4)]);
  const shown = changed.flatMap(({ jobs }) => jobs.map(({ name, state }) => [name, state.kind]));
  assert.deepEqual(shown, [
    ["e", "PROCESSING"],
    ["d", "PROCESSING"],
    ["c", "PROCESSING"],
    ["b", "SUCCESS"],
  ]);
});
