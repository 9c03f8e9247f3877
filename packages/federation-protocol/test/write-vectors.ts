import { writeFileSync } from "node:fs";
import { vectorText } from "./vectors.ts";

writeFileSync(new URL("../../../vectors/federation.json", import.meta.url), vectorText());
