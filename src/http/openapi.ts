import { createHash } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { HTTP_STATUS } from "../errors.ts";
import type { Catalogue, Tool } from "../mcp/catalogue.ts";
import { type JsonSchema, toJsonSchema } from "../mcp/json-schema.ts";
import { VERSION } from "../version.ts";
import { encodeBody } from "./compression.ts";
import {
	type AllowedOrigins,
	crossOriginHeaders,
	mergeHeaders,
} from "./cross-origin.ts";
import { AGENT_PATHS } from "./openapi-agent.ts";
import { errorResponse, jsonBody, jsonResponse } from "./openapi-parts.ts";
import { nameRecords, type ToolSchemas, withTimes } from "./openapi-records.ts";

/**
 * Adds `GET /api/openapi.json`, which describes in OpenAPI 3.1 every address that programs may use.
 * The first request makes the description.
 */
export function addOpenapi(
	app: FastifyInstance,
	catalogue: Catalogue,
	baseUrl: string,
	allowedOrigins: AllowedOrigins,
): void {
	let description: { json: string; etag: string } | undefined;
	app.get(
		"/api/openapi.json",
		{ config: { admits: "program" } },
		async ({ raw }, reply) => {
			description ??= describe(catalogue, baseUrl);
			const { json, etag } = description;
			const common = mergeHeaders(crossOriginHeaders(raw, allowedOrigins), {
				etag,
				"cache-control": "public, max-age=300",
				vary: "accept-encoding",
			});
			if (matches(raw.headers["if-none-match"], etag)) {
				return reply.status(304).headers(common).send();
			}
			const { headers, body } = await encodeBody(json, raw.headers);
			return reply
				.headers({ ...headers, ...common })
				.type("application/json; charset=utf-8")
				.send(body);
		},
	);
}

/**
 * Makes the description and its entity tag, which is weak because it is the same for all encodings.
 */
function describe(catalogue: Catalogue, baseUrl: string) {
	const json = JSON.stringify(makeOpenapi(catalogue, baseUrl));
	const hash = createHash("sha256").update(json).digest("base64url");
	return { json, etag: `W/"${hash}"` };
}

/** Returns true if the header If-None-Match names the entity tag, strong or weak. */
function matches(header: string | undefined, etag: string): boolean {
	const tags = (header ?? "").split(",").map((tag) => tag.trim());
	return (
		tags.includes("*") || tags.includes(etag) || tags.includes(etag.slice(2))
	);
}

export function makeOpenapi(catalogue: Catalogue, baseUrl: string): JsonSchema {
	const schemas = new Map(
		[...catalogue.tools].map(([name, { operation, inputSchema }]) => [
			name,
			{
				toolset: operation.toolset,
				input: inputSchema,
				output: withTimes(toJsonSchema(operation.output, "output")),
			},
		]),
	);
	const records = nameRecords(schemas);
	return {
		openapi: "3.1.0",
		info: {
			title: "Assay",
			version: VERSION,
			description:
				"The Device Agent API, and every tool of the MCP endpoint as plain HTTP.",
		},
		servers: [{ url: baseUrl }],
		security: [{ apiToken: [] }],
		tags: ["device agent", "health", ...catalogue.toolsets].map((name) => ({
			name,
		})),
		paths: {
			...AGENT_PATHS,
			"/health/live": { get: health("live", "The process answers") },
			"/health/ready": {
				get: health("ready", "The service reaches its database"),
			},
			"/api/mcp/health": { get: tokenHealth("mcpHealth") },
			"/api/mcp/v1/health": { get: tokenHealth("mcpV1Health") },
			...Object.fromEntries(
				[...schemas].map(([name, ofTool]) => [
					`/api/mcp/tools/${name}`,
					toolPath(catalogue.tools.get(name) as Tool, ofTool),
				]),
			),
		},
		components: {
			securitySchemes: {
				apiToken: {
					type: "http",
					scheme: "bearer",
					description: "An API token (asy_pat_…): Settings, API tokens",
				},
				deviceKey: {
					type: "http",
					scheme: "bearer",
					description: "A device key (asy_dev_…), as enroll returns it",
				},
			},
			schemas: { Error: ERROR, ...records },
		},
	};
}

const ERROR: JsonSchema = {
	type: "object",
	properties: {
		error: {
			type: "string",
			enum: Object.keys(HTTP_STATUS),
		},
		message: {
			type: "string",
			description:
				"What was wrong and what to do. The text may change; match on the code.",
		},
		fields: {
			type: "array",
			description: "The wrong fields of the input",
			items: {
				type: "object",
				properties: {
					field: { type: "string" },
					message: { type: "string" },
				},
				required: ["field", "message"],
			},
		},
	},
	required: ["error", "message"],
};

function toolPath(tool: Tool, { input, output }: ToolSchemas): JsonSchema {
	const { name, title, description, toolset } = tool.operation;
	const common = {
		tags: [toolset],
		summary: title,
		description,
		responses: {
			"200": jsonResponse("Done", output),
			"400": errorResponse(
				"The input is wrong; the error names each wrong field",
			),
			"401": errorResponse("The token is missing, malformed or invalid"),
			"403": errorResponse(
				"The role does not permit the call, or the organization is not yours",
			),
			"404": errorResponse("There is no such record, or no such tool"),
			...("if_updated_at" in tool.operation.input.shape && {
				"409": errorResponse("The record has changed since if_updated_at"),
			}),
			"500": errorResponse("The service failed; retry later"),
			"503": errorResponse(
				"The service is overloaded or unavailable; retry after Retry-After seconds",
			),
		},
	};
	const post = {
		operationId: name,
		...common,
		requestBody: jsonBody(input),
	};
	if (!tool.operation.isReadOnly) return { post };
	const get = {
		operationId: `${name}ByQuery`,
		...common,
		parameters: queryParameters(input, ""),
	};
	return { get, post };
}

/**
 * Describes a tool's input as parameters of a query string, in the form that `query-input.ts`
 * reads. A property of an object is written after a dot.
 */
function queryParameters(schema: JsonSchema, prefix: string): JsonSchema[] {
	const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
	const required = (schema.required ?? []) as string[];
	return Object.entries(properties).flatMap(([name, property]) => {
		if (property.properties) {
			return queryParameters(property, `${prefix}${name}.`);
		}
		const { description, ...rest } = property;
		return [
			{
				name: prefix + name,
				in: "query",
				...(description === undefined ? {} : { description }),
				required: prefix === "" && required.includes(name),
				schema: rest,
			},
		];
	});
}

function health(name: string, description: string): JsonSchema {
	const status = { type: "object", properties: { status: { const: "ok" } } };
	return {
		operationId: name,
		tags: ["health"],
		summary: description,
		security: [],
		responses: {
			"200": jsonResponse(description, status),
			"503": errorResponse("The service or its database is unavailable"),
		},
	};
}

function tokenHealth(name: string): JsonSchema {
	const { security, responses, ...rest } = health(name, "The token is valid");
	return {
		...rest,
		responses: {
			...(responses as JsonSchema),
			"401": errorResponse("The token is missing, malformed or invalid"),
		},
	};
}
