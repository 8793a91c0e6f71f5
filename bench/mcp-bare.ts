import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { makePool, transaction } from "../src/db/pool.ts";
import { findRecord } from "../src/records/store.ts";
import { risk } from "../src/registers/risk.ts";
import { ApiTokens } from "../src/tokens/authentication.ts";

/**
 * The simplest possible server of getRisk. It sends the same statements as the service (one for the
 * token's user and, in a transaction of the organization, one for the row) and answers with the row
 * as JSON. It does not check origin, protocol, schema or permission. Its rate is the highest that
 * the database allows.
 */
const POOL = Number(process.env.BENCH_POOL);
const pool = makePool(JSON.parse(process.env.BENCH_CONNECTION ?? "{}"), {
	max: POOL,
});
const tokens = new ApiTokens(pool);

const server = createServer((request, response) => {
	const chunks: Buffer[] = [];
	request.on("data", (chunk: Buffer) => chunks.push(chunk));
	request.on("end", async () => {
		const body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
		const { memberships, userId } = await tokens.authenticate(
			request.headers.authorization,
			{},
		);
		const organizationId = memberships[0]?.organizationId ?? "";
		const scope = { organizationId, userId, isReadOnly: true };
		const found = await transaction(pool, scope, (client) =>
			findRecord(client, risk, organizationId, body.params.arguments.id),
		);
		const text = JSON.stringify({ risk: found });
		response.writeHead(200, {
			"content-type": "application/json",
			"content-length": Buffer.byteLength(text),
		});
		response.end(text);
	});
});
server.keepAliveTimeout = 75_000;
server.listen(0, "127.0.0.1");
await once(server, "listening");
process.send?.((server.address() as AddressInfo).port);
process.on("disconnect", () => process.exit(0));
process.on("SIGINT", () => {});
