import { Button, Stack, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { call, type InputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { TextLink } from "../../parts/links.tsx";
import { SaveOnceQuestion, useSaveOnce } from "../../parts/save-once.tsx";
import { forgetReadings, operationQuery } from "../../queries.ts";
import { EnrollmentSteps, TOKEN_WORDS } from "../devices/enrollment-steps.tsx";
import { EnrolledDevices } from "./enrolled-devices.tsx";

/**
 * Lists the devices that are enrolled already. Adds this computer as a device of the reader, shows
 * the command for it, and waits for its first report.
 */
export function AgentStep() {
	const { organizationId } = useOrganization();
	const input = { organization_id: organizationId };
	const { data: overview } = useQuery(operationQuery("getOverview", input));
	const { data: summary } = useQuery(
		operationQuery("listPostureSummary", input),
	);
	const adding = useMutation({
		mutationFn: () =>
			call("addDevice", {
				organization_id: organizationId,
				owner_id: overview?.mine?.person_id ?? null,
			}),
		onSuccess: () => forgetReadings(),
	});
	const once = useSaveOnce(adding.data?.enrollment_token);
	if (adding.data) {
		return (
			<Stack>
				<SaveOnceQuestion {...TOKEN_WORDS} once={once} />
				<EnrollmentSteps issued={adding.data} once={once} />
			</Stack>
		);
	}
	const waiting = summary?.devices_by_status.PENDING ?? 0;
	const enrolled = summary?.devices_by_status.ACTIVE ?? 0;
	return (
		<Stack align="flex-start">
			{enrolled > 0 && <EnrolledDevices count={enrolled} />}
			{adding.isError && (
				<ErrorState error={adding.error} title="The device was not added" />
			)}
			{enrolled === 0 && (
				<Text size="sm">
					You get the command for the terminal of this computer. It installs the
					agent from this service and enrolls the computer. You become its
					owner, and its name is its hostname. You can change both later.
				</Text>
			)}
			{waiting > 0 && <WaitingDevices count={waiting} />}
			<Button
				variant={enrolled > 0 ? "default" : "filled"}
				loading={adding.isPending}
				onClick={() => adding.mutate()}
			>
				{enrolled > 0 ? "Add another device" : "Get the command"}
			</Button>
		</Stack>
	);
}

/** Leads to the devices that have no agent yet. A single one is opened directly. */
function WaitingDevices({ count }: { count: number }) {
	const { organizationId: org } = useOrganization();
	const { data } = useQuery({
		...operationQuery("listDevices", {
			organization_id: org,
			size: 1,
			filter: { status: "PENDING" },
		} as InputOf<"listDevices">),
		enabled: count === 1,
	});
	const id = count === 1 ? data?.devices[0]?.id : undefined;
	return (
		<Text size="sm">
			{id ? (
				<TextLink
					underline="always"
					to="/o/$org/devices/$id"
					params={{ org, id }}
				>
					One device waits for an agent.
				</TextLink>
			) : (
				<TextLink
					underline="always"
					to="/o/$org/devices"
					params={{ org }}
					search={{ status: "PENDING" }}
				>
					{count === 1
						? "One device waits"
						: `${count.toLocaleString()} devices wait`}{" "}
					for an agent.
				</TextLink>
			)}{" "}
			{count === 1 ? "Its page" : "The page of each"} gives you a new token.
		</Text>
	);
}
