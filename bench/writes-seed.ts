import type { Client } from "pg";
import { makeOrganizationId } from "../src/id.ts";

const RISKS = 400;
const MEASURES = 400;
const REQUESTS = 20_000;

const RISK = {
	name: "A risk of the benchmark",
	category: "Benchmark",
	treatment: "ACCEPTED",
	inherent_likelihood: 2,
	inherent_impact: 3,
};

export interface Writes {
	tools: string[];
	/** Returns raw HTTP requests, in an order that goes on where the last one stopped. */
	requestsOf: (tool: string) => string[];
}

/**
 * Creates an organization with risks and measures, and returns requests that write to it. Each
 * request changes something.
 */
export async function seedWrites(
	client: Client,
	url: string,
	makeTokens: (organization: string) => Promise<string[]>,
): Promise<Writes> {
	const organization_id = makeOrganizationId();
	await client.query(
		"insert into organizations (id, name) values ($1, 'Bench')",
		[organization_id],
	);
	const tokens = await makeTokens(organization_id);
	const call = async (tool: string, input: object) => {
		const answer = await fetch(`${url}/api/mcp/tools/${tool}`, {
			method: "POST",
			headers: { authorization: `Bearer ${tokens[0]}` },
			body: JSON.stringify(input),
		});
		if (!answer.ok) throw new Error(`${tool}: ${await answer.text()}`);
		return answer.json() as Promise<Record<string, { id: string }>>;
	};
	const risks: string[] = [];
	for (let n = 0; n < RISKS; n++) {
		const { risk } = await call("addRisk", { organization_id, ...RISK });
		risks.push(risk?.id ?? "");
	}
	const measures: string[] = [];
	for (let n = 0; n < MEASURES; n++) {
		const { measure } = await call("addMeasure", {
			organization_id,
			name: `Measure ${n}`,
			category: "Benchmark",
		});
		measures.push(measure?.id ?? "");
	}
	await client.query("vacuum (analyze)");
	await client.query("checkpoint");

	let made = 0;
	const inputs: Record<string, (n: number) => object> = {
		addRisk: () => ({ organization_id, ...RISK }),
		updateRisk: (n) => ({ id: risks[n % RISKS], note: `Note ${n}` }),
		linkRecords: (n) => ({
			record_id: risks[n % RISKS],
			linked_record_id: measures[Math.floor(n / RISKS) % MEASURES],
		}),
		addNonconformity: (n) => ({ organization_id, title: `Finding ${n}` }),
		addRecords: (n) => ({
			organization_id,
			kind: "risk",
			records: Array.from({ length: 20 }, (_, index) => ({
				...RISK,
				name: `Risk ${n}.${index}`,
			})),
		}),
	};
	return {
		tools: Object.keys(inputs),
		requestsOf: (tool) =>
			Array.from({ length: REQUESTS }, () => {
				const n = made++;
				const token = tokens[n % tokens.length] ?? "";
				const text = JSON.stringify(inputs[tool]?.(n));
				return `POST /api/mcp/tools/${tool} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
			}),
	};
}
