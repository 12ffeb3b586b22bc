import assert from "node:assert/strict";
import { test } from "node:test";
import { jobOf, type Job, type JobsPart } from "./job.ts";
import { withFirstPart, withJobs, withNewJob } from "./merge-jobs.ts";

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

function part(...jobs: Job[]): JobsPart {
  return { jobs, nextToken: "" };
}

test("withJobs() takes what is newer, and lets a job end once", () => {
  const old = job("a", 10, 1);
  const heard = job("a", 20, 2);
  assert.deepEqual(withJobs([part(old)], [heard]), [part(heard)]);
  assert.deepEqual(withJobs([part(heard)], [old]), [part(heard)]);
  assert.deepEqual(withJobs([part(heard)], [ended("a")]), [part(ended("a"))]);
  assert.deepEqual(withJobs([part(ended("a"))], [heard]), [part(ended("a"))]);
});

test("withJobs() leaves pages without news as they are", () => {
  const parts = [part(job("a", 1, 1)), part(ended("b"))];
  const merged = withJobs(parts, [job("a", 2, 2), ended("c")]);
  assert.equal(merged[1], parts[1]);
});

test("withFirstPart() puts new jobs on top, and knows when it cannot", () => {
  const shown = [part(job("b", 1, 1)), part(job("a", 1, 1))];
  assert.deepEqual(withFirstPart(shown, part(job("c", 0, 1), job("b", 5, 2))), [
    part(job("c", 0, 1), job("b", 5, 2)),
    part(job("a", 1, 1)),
  ]);
  assert.equal(withFirstPart(shown, part(job("e", 0, 1), job("d", 0, 1))), undefined);
  assert.deepEqual(withFirstPart([part()], part()), [part()]);
  assert.equal(withFirstPart([part()], part(job("a", 0, 1))), undefined);
});

test("withNewJob() puts a job on top, once", () => {
  const shown = [part(job("a", 1, 1))];
  const with2 = withNewJob(shown, job("b", 0, 1));
  assert.deepEqual(with2, [part(job("b", 0, 1), job("a", 1, 1))]);
  assert.equal(withNewJob(with2, job("b", 0, 1)), with2);
});
