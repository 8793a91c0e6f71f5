import { MAX_RESULTS } from "../devices/terms.ts";
import {
	CHOICE_NAMES,
	CHOICES,
	THRESHOLD_NAMES,
} from "../devices/thresholds.ts";
import {
	enrollRequest,
	heartbeatRequest,
	postureResult,
} from "../devices/wire.ts";
import { type JsonSchema, toJsonSchema } from "../mcp/json-schema.ts";
import { errorResponse, jsonBody, jsonResponse } from "./openapi-parts.ts";

const refusals = {
	"400": errorResponse("The request is wrong; do not retry it unchanged"),
	"401": errorResponse("The credential is not valid; discard it"),
	"405": { description: "The method is not POST; the body is empty" },
	"500": errorResponse("The service failed; retry later"),
	"503": errorResponse(
		"The service is overloaded or unavailable; retry after Retry-After seconds",
	),
};

const withKey = { security: [{ deviceKey: [] }] };

function object(properties: JsonSchema, optional: JsonSchema = {}): JsonSchema {
	return {
		type: "object",
		properties: { ...properties, ...optional },
		required: Object.keys(properties),
	};
}

/** The four routes of the Device Agent API, as OpenAPI describes them. */
export const AGENT_PATHS: JsonSchema = {
	"/api/agent/v1/enroll": {
		post: {
			operationId: "agentEnroll",
			tags: ["device agent"],
			summary: "Exchange an enrollment token, once, for a device key",
			security: [],
			requestBody: jsonBody(toJsonSchema(enrollRequest, "input")),
			responses: {
				"200": jsonResponse(
					"Enrolled",
					object({ api_key: { type: "string" } }),
				),
				...refusals,
			},
		},
	},
	"/api/agent/v1/heartbeat": {
		post: {
			operationId: "agentHeartbeat",
			tags: ["device agent"],
			summary: "Send a heartbeat; the first one makes the device active",
			...withKey,
			requestBody: jsonBody(toJsonSchema(heartbeatRequest, "input")),
			responses: {
				"200": jsonResponse(
					"Stored",
					object(
						{
							device_id: { type: "string" },
							heartbeat_interval_seconds: { type: "integer" },
							posture_interval_seconds: { type: "integer" },
							server_time: { type: "string", format: "date-time" },
						},
						{
							newest_agent_version: { type: "string" },
							policy: object(
								Object.fromEntries([
									...THRESHOLD_NAMES.map((name) => [name, { type: "integer" }]),
									...CHOICE_NAMES.map((name) => [
										name,
										{ type: "string", enum: CHOICES[name] },
									]),
								]),
							),
						},
					),
				),
				...refusals,
			},
		},
	},
	"/api/agent/v1/postures": {
		post: {
			operationId: "agentPostures",
			tags: ["device agent"],
			summary: "Report the results of checks, all or nothing",
			...withKey,
			requestBody: jsonBody(
				object({
					results: {
						type: "array",
						maxItems: MAX_RESULTS,
						items: toJsonSchema(postureResult, "input"),
					},
				}),
			),
			responses: { "204": { description: "Stored" }, ...refusals },
		},
	},
	"/api/agent/v1/unenroll": {
		post: {
			operationId: "agentUnenroll",
			tags: ["device agent"],
			summary: "Revoke the device's own key; no body is needed",
			...withKey,
			responses: { "204": { description: "Revoked" }, ...refusals },
		},
	},
};
