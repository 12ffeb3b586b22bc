import { testEngine } from "../../../test/fixtures/engine-conformance.ts";
import { createScriptedEngine } from "./scripted-engine.ts";

testEngine("createScriptedEngine()", createScriptedEngine, /^word1 word2 word3( word4)?$/);
