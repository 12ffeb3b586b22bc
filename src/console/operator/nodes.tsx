import { useQuery } from "@tanstack/react-query";
import type { NodeJson, NodeModelJson } from "../../gen/hlust/operator/v1/operator_pb.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { commonText } from "../text/common.ts";
import { when } from "../text/dates.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { numberText } from "../text/numbers.ts";
import { operatorText } from "../text/operator.ts";
import { useNow } from "../text/use-now.ts";
import { nodesQuery } from "./operator-queries.ts";
import { OperatorTable } from "./operator-table.tsx";

/** The nodes that run now, and the models in their engine processes. */
export function Nodes() {
  const t = useText();
  const { data, error, refetch } = useQuery(nodesQuery);
  if (!data) {
    return error ? (
      <ProblemNote error={error} onRetry={() => void refetch()} />
    ) : (
      <p className="quiet operator-loading">{t(commonText.loading)}</p>
    );
  }
  const { nodes = [] } = data;
  const models = nodes.flatMap((node) => (node.models ?? []).map((model) => ({ node, model })));
  return (
    <>
      <OperatorTable
        id="operator-nodes"
        title={t(operatorText.nodes)}
        columns={[
          t(operatorText.node),
          t(operatorText.state),
          t(operatorText.role),
          t(operatorText.version),
          t(operatorText.started),
          t(operatorText.streams),
          t(operatorText.jobs),
          t(operatorText.load),
        ]}
      >
        {nodes.map((node) => (
          <NodeRow key={node.name} node={node} />
        ))}
      </OperatorTable>
      <OperatorTable
        id="operator-engines"
        title={t(operatorText.engines)}
        columns={[
          t(operatorText.model),
          t(operatorText.state),
          t(operatorText.node),
          t(operatorText.version),
          t(operatorText.languages),
          t(operatorText.processes),
          t(operatorText.sessions),
          t(operatorText.streamsMax),
        ]}
      >
        {models.map(({ node, model }) => (
          <ModelRow key={`${node.name} ${model.name}`} node={node} model={model} />
        ))}
      </OperatorTable>
    </>
  );
}

function NodeRow({ node }: { readonly node: NodeJson }) {
  const t = useText();
  const { language } = useLanguage();
  const now = useNow();
  const { state = "NODE_STATE_UNSPECIFIED", startTime = "" } = node;
  return (
    <tr>
      <th scope="row">
        {node.host} <span className="operator-sub">{node.address}</span>
      </th>
      <td className={state === "NOT_READY" ? "failed" : undefined}>
        {t(operatorText.stateOf[state])}
      </td>
      <td>{node.role}</td>
      <td>{node.version}</td>
      <td>{when(language, new Date(startTime), now)}</td>
      <td>{numberText(language, node.openStreams ?? 0)}</td>
      <td>{numberText(language, node.runningJobs ?? 0)}</td>
      <td>{t(operatorText.percent)(Number(node.load ?? 0))}</td>
    </tr>
  );
}

function ModelRow({ node, model }: { readonly node: NodeJson; readonly model: NodeModelJson }) {
  const t = useText();
  const { language } = useLanguage();
  const { state = "MODEL_STATE_UNSPECIFIED", readyProcesses = 0, processes = 0 } = model;
  const isBroken = !["SERVING", "LOADING"].includes(state);
  return (
    <tr>
      <th scope="row">{model.name}</th>
      <td className={isBroken ? "failed" : undefined}>{t(operatorText.modelStateOf[state])}</td>
      <td>{node.host}</td>
      <td>{model.version || "–"}</td>
      <td>{model.languageCodes?.join(", ") || "–"}</td>
      <td>{t(operatorText.processesOf)(readyProcesses, processes)}</td>
      <td>{numberText(language, model.sessions ?? 0)}</td>
      <td>{numberText(language, model.streamsMax ?? 0)}</td>
    </tr>
  );
}
