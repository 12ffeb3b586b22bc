import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { redo, undo, undoDepth } from "prosemirror-history";
import { differentWords } from "../../../../../test/fixtures/different-words.ts";
import { drawnSteps } from "../../../../../test/fixtures/edit-steps.ts";
import { assertSame, EditedState, modelOf } from "../../../../../test/fixtures/edited-state.ts";
import { runs } from "../../../../../test/fixtures/property-runs.ts";
import { baseOf, paragraphsOf } from "../model/base.ts";

const base = baseOf(differentWords());

test("the text is what a plain list of paragraphs becomes by the same commands", () => {
  fc.assert(
    fc.property(drawnSteps(30), fc.boolean(), (commands, repairs) => {
      const model = modelOf(base);
      const edited = new EditedState(base, repairs);
      fc.modelRun(() => ({ model, real: edited }), commands);
      const last = edited.paragraphs;
      let steps = 0;
      for (; undoDepth(edited.state) > 0; steps++) {
        edited.run(undo);
        model.undo();
        assertSame(model, edited);
      }
      assert.deepEqual(edited.paragraphs, paragraphsOf(base));
      for (; steps > 0; steps--) {
        edited.run(redo);
        model.redo();
        assertSame(model, edited);
      }
      assert.deepEqual(edited.paragraphs, last);
    }),
    { numRuns: runs(800) },
  );
});
