import { Paper, Stack, Text, Title } from "@mantine/core";
import type { OutputOf } from "../../api.ts";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { DateTime } from "../../parts/time.tsx";

type Found = OutputOf<"getDevice">;
type Token = NonNullable<Found["enrollment_token"]>;

const STATES = {
	OPEN: {
		tone: "active",
		label: "Not used yet",
		words:
			"The device can still enroll with it. If you have lost the token, make a new one: it cannot be shown again.",
	},
	EXPIRED: {
		tone: "warning",
		label: "Expired",
		words: "It expired unused. Reissue the token to enroll the device.",
	},
	REVOKED: {
		tone: "neutral",
		label: "Revoked",
		words: "It no longer works. Reissue the token to enroll the device.",
	},
} as const satisfies Record<Token["state"], object>;

/** Shows whether the device has enrolled, and its enrollment token if there is one. */
export function EnrollmentTab({ found }: { found: Found }) {
	const { device, enrollment_token: token } = found;
	return (
		<Paper withBorder p="md">
			<Stack gap="md">
				<div>
					<Title order={2} mb={4}>
						Key
					</Title>
					<Text size="sm">{keyInWords(found)}</Text>
					{device.enrolled_at && (
						<Text size="sm" c="dimmed">
							The device exchanged a token for its key on{" "}
							<DateTime value={device.enrolled_at} />.
						</Text>
					)}
				</div>
				<div>
					<Title order={2} mb={6}>
						Enrollment token
					</Title>
					{token ? (
						<Stack gap={6} align="flex-start">
							<StatusBadge
								tone={STATES[token.state].tone}
								label={STATES[token.state].label}
							/>
							<Text size="sm">{STATES[token.state].words}</Text>
							<Text size="sm" c="dimmed">
								Made <DateTime value={token.created_at} />
								{token.created_by && ` by ${token.created_by}`};{" "}
								{token.state === "EXPIRED" ? "expired" : "expires"}{" "}
								<DateTime value={token.expires_at} />.
							</Text>
						</Stack>
					) : (
						<Text size="sm">
							There is no open token. Reissue the token if you reinstall the
							agent or replace the hardware.
						</Text>
					)}
				</div>
			</Stack>
		</Paper>
	);
}

function keyInWords({ device }: Found): string {
	if (device.status === "REVOKED") return "Revoked: every request is rejected.";
	if (device.status === "ACTIVE") return "In use by the device's agent.";
	return device.enrolled_at
		? "The device has the key and has not sent a heartbeat yet."
		: "None yet: the device has not used its token.";
}
