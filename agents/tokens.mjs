// Counts the tokens (o200k_base) of each text in a JSON list on stdin.
import { readFileSync } from "node:fs";
import { encode } from "gpt-tokenizer/encoding/o200k_base";

const texts = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(texts.map((text) => encode(text, { allowedSpecial: "all" }).length)));
