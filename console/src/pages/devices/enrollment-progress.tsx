import { Alert, Group, Loader, Stack, Text } from "@mantine/core";
import { IconCircleCheckFilled } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { OutputOf } from "../../api.ts";
import { ChecksInWords } from "../../parts/devices/checks-in-words.tsx";
import { deviceName } from "../../parts/devices/device-words.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { ButtonLink } from "../../parts/links.tsx";
import { operationQuery } from "../../queries.ts";
import { Approval } from "./approval.tsx";
import { Conflicts } from "./conflicts.tsx";

const POLL_MS = 2_000;

type Found = OutputOf<"getDevice">;

/** Waits until a device has used a token that was just issued, and shows this without a reload. */
export function EnrollmentProgress({
	deviceId,
	tokenId,
	onTaken,
	onOver,
}: {
	deviceId: string;
	tokenId: string;
	/** Called when a device has used the token. */
	onTaken: () => void;
	/** Called when nothing is left to do on the device. */
	onOver: () => void;
}) {
	const device = useQuery({
		...operationQuery("getDevice", { id: deviceId }),
		refetchInterval: ({ state }) =>
			state.data &&
			stepOf(state.data, tokenId) === "done" &&
			state.data.device.postures.length > 0
				? false
				: POLL_MS,
	});
	const { data } = device;
	const step = data ? stepOf(data, tokenId) : "token";
	useEffect(() => {
		if (step === "heartbeat") onTaken();
		else if (step !== "token") onOver();
	}, [step, onTaken, onOver]);
	if (device.isError && !data) {
		return <ErrorState error={device.error} onRetry={device.refetch} />;
	}
	return (
		<Stack gap="sm">
			<div role="status">
				{step === "done" ? (
					<Alert
						color="green"
						variant="outline"
						icon={<IconCircleCheckFilled aria-hidden />}
						title="The device is enrolled"
					>
						<Stack align="flex-start" gap="sm">
							{data ? deviceName(data.device) : "It"} has sent its first
							heartbeat and is active.
							<FirstReport found={data} />
							<ButtonLink
								to="/o/$org/devices/$id"
								params={{
									org: data?.device.organization_id ?? "",
									id: deviceId,
								}}
								variant="default"
							>
								Open the device
							</ButtonLink>
						</Stack>
					</Alert>
				) : (
					<Group wrap="nowrap" gap="sm">
						{step !== "void" && <Loader size="sm" aria-hidden />}
						<Text size="sm">{WORDS[step]}</Text>
					</Group>
				)}
			</div>
			{data && step === "approval" && <Approval device={data.device} />}
			{data && (step === "heartbeat" || step === "approval") && (
				<Conflicts found={data} />
			)}
		</Stack>
	);
}

/** Waits for the first posture report, and says what it contains. */
function FirstReport({ found }: { found: Found | undefined }) {
	const postures = found?.device.postures ?? [];
	if (postures.length === 0) {
		return (
			<Group wrap="nowrap" gap="sm">
				<Loader size="sm" aria-hidden />
				<Text size="sm">Waiting for its first report …</Text>
			</Group>
		);
	}
	return (
		<Text size="sm">
			Its first report has arrived. <ChecksInWords postures={postures} />
		</Text>
	);
}

const WORDS = {
	token: "Waiting for the device to enroll …",
	heartbeat: "The token was used. Waiting for the first heartbeat …",
	approval: "The token was used. The device waits for approval.",
	void: "This token no longer works: it expired, was revoked, or was replaced by a newer one.",
};

function stepOf({ device, enrollment_token }: Found, tokenId: string) {
	if (enrollment_token) {
		const isOpen =
			enrollment_token.id === tokenId && enrollment_token.state === "OPEN";
		return isOpen ? "token" : "void";
	}
	if (device.status === "ACTIVE") return "done";
	return device.awaits_approval ? "approval" : "heartbeat";
}
