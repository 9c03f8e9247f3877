import { writeFileSync } from "node:fs";
import { formatVectors } from "./vectors.ts";

writeFileSync(new URL("../../../vectors/federation.json", import.meta.url), formatVectors());
