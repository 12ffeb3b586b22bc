import { useQuery } from "@tanstack/react-query";
import { ProblemNote } from "../parts/problem-note.tsx";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { overviewText } from "../text/overview.ts";
import { healthQuery, type HealthReport } from "./health-query.ts";

const parts = ["engines", "database", "media", "sandbox"] as const;

/** The health of the service and its parts. */
export function Health() {
  const t = useText();
  const health = useQuery(healthQuery);
  return (
    <section aria-labelledby="health">
      <h2 id="health">{t(overviewText.health)}</h2>
      {health.error && <ProblemNote error={health.error} onRetry={() => void health.refetch()} />}
      {!health.data && !health.error && <p className="quiet">{t(commonText.loading)}</p>}
      {health.data && !health.error && <Parts health={health.data} />}
    </section>
  );
}

function Parts({ health }: { readonly health: HealthReport }) {
  const t = useText();
  const isWell = health.status === "ready";
  return (
    <>
      <p className={isWell ? "soft" : "failed"}>
        {t(isWell ? overviewText.allWell : overviewText.notWell)}
      </p>
      <dl className="facts-list">
        {parts.map((name) => {
          const part = health.parts[name];
          const { ready = false, running = 0, processes = 0, kind } = part ?? {};
          const isCounted = name === "engines" && ready;
          return (
            <div key={name}>
              <dt>{t(overviewText[name])}</dt>
              <dd className={ready ? undefined : "failed"}>
                {isCounted && t(overviewText.processes)(running, processes)}
                {!isCounted && kind === "reduced" && ready && t(overviewText.reducedSandbox)}
                {!isCounted &&
                  !(kind === "reduced" && ready) &&
                  t(ready ? overviewText.well : overviewText.unwell)}
              </dd>
            </div>
          );
        })}
      </dl>
    </>
  );
}
