import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type {
  InstalledModelJson,
  ModelTaskKindJson,
  NodeJson,
} from "../../gen/hlust/operator/v1/operator_pb.ts";
import { callApi } from "../api/call-api.ts";
import { Button } from "../parts/button.tsx";
import { Choice } from "../parts/choice.tsx";
import { DangerActions } from "../parts/danger-actions.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { useLanguage, useText } from "../text/language.tsx";
import { bytesText } from "../text/numbers.ts";
import { operatorProblems, operatorText } from "../text/operator.ts";
import { ModelTasks } from "./model-tasks.tsx";
import { catalogueQuery, modelTasksQuery, nodesQuery } from "./operator-queries.ts";
import { OperatorTable } from "./operator-table.tsx";

interface Wanted {
  readonly kind: ModelTaskKindJson;
  readonly model: string;
  readonly node: NodeJson;
}

/** The models on the disks of the nodes: pulling, testing and removing them. */
export function Models() {
  const t = useText();
  const { data } = useQuery(nodesQuery);
  const queries = useQueryClient();
  const [removed, setRemoved] = useState<Wanted>();
  const order = useMutation({
    mutationFn: ({ kind, model, node }: Wanted) => {
      const body = { kind, model, node: node.name };
      return callApi("/v1/operator/modelTasks", { method: "POST", body });
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: modelTasksQuery.queryKey }),
  });
  const folders = foldersOf(data?.nodes ?? []);
  return (
    <>
      <OperatorTable
        id="operator-models"
        title={t(operatorText.models)}
        columns={[
          t(operatorText.model),
          t(operatorText.node),
          t(operatorText.version),
          t(operatorText.size),
          t(operatorText.test),
          t(operatorText.remove),
        ]}
      >
        {folders.flatMap((node) =>
          (node.installedModels ?? []).map((model) => (
            <InstalledRow
              key={`${node.name} ${model.name}`}
              node={node}
              model={model}
              onTest={() => order.mutate({ kind: "TEST", model: model.name ?? "", node })}
              onRemove={() => setRemoved({ kind: "REMOVE", model: model.name ?? "", node })}
            />
          )),
        )}
      </OperatorTable>
      <PullModel folders={folders} onPull={(wanted) => order.mutate(wanted)} />
      {order.error && <ProblemNote error={order.error} own={operatorProblems} />}
      <ModelTasks />
      {removed && (
        <DialogBox
          title={t(operatorText.removeTitle)(removed.model, removed.node.host ?? "")}
          isOpen
          onClose={() => setRemoved(undefined)}
        >
          <p>{t(operatorText.removeNext)}</p>
          <DangerActions
            text={t(operatorText.remove)}
            isPending={order.isPending}
            onConfirm={() => {
              order.mutate(removed);
              setRemoved(undefined);
            }}
            onClose={() => setRemoved(undefined)}
          />
        </DialogBox>
      )}
    </>
  );
}

/** Returns one node of each models folder that nodes can write to. */
function foldersOf(nodes: readonly NodeJson[]): readonly NodeJson[] {
  const byFolder = new Map<string, NodeJson>();
  for (const node of nodes) {
    const { modelsFolder = "" } = node;
    if (modelsFolder !== "" && !byFolder.has(modelsFolder)) byFolder.set(modelsFolder, node);
  }
  return [...byFolder.values()];
}

function InstalledRow({
  node,
  model,
  onTest,
  onRemove,
}: {
  readonly node: NodeJson;
  readonly model: InstalledModelJson;
  readonly onTest: () => void;
  readonly onRemove: () => void;
}) {
  const t = useText();
  const { language } = useLanguage();
  const { name = "" } = model;
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{node.host}</td>
      <td>{model.version}</td>
      <td>{bytesText(language, Number(model.bytes ?? 0))}</td>
      <td>
        <Button look="quiet" aria-label={t(operatorText.testOf)(name)} onPress={onTest}>
          {t(operatorText.test)}
        </Button>
      </td>
      <td>
        {model.builtin ? (
          t(operatorText.builtin)
        ) : (
          <Button look="quiet" aria-label={t(operatorText.removeOf)(name)} onPress={onRemove}>
            {t(operatorText.remove)}
          </Button>
        )}
      </td>
    </tr>
  );
}

/** Chooses a model of the catalogue and a node to pull it. */
function PullModel({
  folders,
  onPull,
}: {
  readonly folders: readonly NodeJson[];
  readonly onPull: (wanted: Wanted) => void;
}) {
  const t = useText();
  const { language } = useLanguage();
  const { data } = useQuery(catalogueQuery);
  const [chosen, setChosen] = useState("");
  const [folder, setFolder] = useState("");
  const models = data?.models ?? [];
  const model = models.find(({ name }) => name === chosen) ?? models[0];
  const node = folders.find(({ modelsFolder }) => modelsFolder === folder) ?? folders[0];
  if (!node) return <p className="quiet">{t(operatorText.noFolder)}</p>;
  if (!model) return null;
  const options = models.map(({ name = "", languageCodes = [], downloadBytes = "0" }) => {
    const size = Number(downloadBytes) > 0 ? `, ${bytesText(language, Number(downloadBytes))}` : "";
    return { value: name, text: `${name} (${languageCodes.join(", ")}${size})` };
  });
  return (
    <section className="operator-form operator-pull" aria-labelledby="operator-pull">
      <h3 id="operator-pull">{t(operatorText.pullTitle)}</h3>
      <p className="quiet">{t(operatorText.pullNext)}</p>
      <Choice
        label={t(operatorText.model)}
        value={model.name ?? ""}
        options={options}
        onChange={setChosen}
      />
      <Choice
        label={t(operatorText.node)}
        value={node.modelsFolder ?? ""}
        options={folders.map(({ modelsFolder = "", host = "", address = "" }) => {
          return { value: modelsFolder, text: `${host} (${address})` };
        })}
        onChange={setFolder}
      />
      <div>
        <Button onPress={() => onPull({ kind: "PULL", model: model.name ?? "", node })}>
          {t(operatorText.pull)}
        </Button>
      </div>
    </section>
  );
}
