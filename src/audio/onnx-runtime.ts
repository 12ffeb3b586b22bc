// onnxruntime, without its telemetry. From version 1.29 on, its builds for Linux send the hashes,
// names and sizes of models, counts of runs and an id of the device to Microsoft unless this
// variable is set when the library is loaded (https://github.com/microsoft/onnxruntime/pull/27379).
// All code imports the library from here.
import "./no-telemetry.ts";

export { InferenceSession, Tensor } from "onnxruntime-node";
export { binding, initOrt, type Binding } from "onnxruntime-node/dist/binding.js";
