import {
	Button,
	Group,
	Paper,
	Stack,
	Text,
	Textarea,
	Title,
} from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { asSentence, call, type InputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { TextLink } from "../../parts/links.tsx";
import { forgetReadings, meQuery, operationQuery } from "../../queries.ts";
import type { DeviceException } from "./exception-words.tsx";

/** Most administrators that are named to somebody who may not approve. */
const MAX_NAMED = 5;

function namesOf(others: { name: string }[], hasMore: boolean): string {
	const names = others.slice(0, MAX_NAMED).map(({ name }) => name);
	if (hasMore || others.length > MAX_NAMED) names.push("others");
	return `Other administrators: ${new Intl.ListFormat("en-GB").format(names)}.`;
}

/** Lets an administrator approve or reject a requested exception. */
export function Decision({
	exception,
	whyNot,
}: {
	exception: DeviceException;
	/** Why the service refuses the approval of the reader. Null if it does not. */
	whyNot: string | null;
}) {
	const { mayAdmin, organizationId } = useOrganization();
	const { data: me } = useQuery(meQuery);
	const hasCopiedLink = me != null && exception.link_copied_by_id === me.id;
	const mayApprove = whyNot === null;
	const admins = useQuery({
		...operationQuery("listMembers", {
			organization_id: organizationId,
			filter: { role: "admin" },
			size: MAX_NAMED + 1,
		} as InputOf<"listMembers">),
		enabled:
			mayAdmin &&
			exception.status === "REQUESTED" &&
			(hasCopiedLink || !mayApprove),
	});
	const others = admins.data?.members.filter(
		({ user_id, is_ended }) => user_id !== me?.id && !is_ended,
	);
	const isOnly = others?.length === 0;
	const [note, setNote] = useState("");
	const deciding = useMutation({
		mutationFn: (is_approved: boolean) =>
			call("approveDeviceException", {
				id: exception.id,
				is_approved,
				...(note.trim() && { note: note.trim() }),
			}),
		onSuccess: async (_, isApproved) => {
			await forgetReadings();
			notifications.show({
				message: isApproved
					? "The exception is approved."
					: "The exception is rejected.",
			});
		},
	});
	if (exception.status !== "REQUESTED") return null;
	if (!mayAdmin) {
		return (
			<Text size="sm">
				An administrator has to approve it. Until then, it excuses no device.
			</Text>
		);
	}
	return (
		<Paper withBorder p="md" component="section" aria-label="Decision">
			<Stack maw={640}>
				<Title order={2}>Decision</Title>
				{deciding.isError && (
					<ErrorState error={deciding.error} title="Not decided" />
				)}
				{whyNot !== null && (
					<Text size="sm">
						{asSentence(whyNot)} You can reject it.
						{others !== undefined && others.length > 0 && (
							<> {namesOf(others, admins.data?.next_cursor != null)}</>
						)}
					</Text>
				)}
				{hasCopiedLink && mayApprove && (
					<Text size="sm">
						You copied the link by which this exception was requested, and you
						are the only administrator. If you approve it, say why. The audit
						log and this page will say that nobody else looked at it.
					</Text>
				)}
				{isOnly && (
					<Text size="sm">
						For a second pair of eyes,{" "}
						<TextLink
							to="/o/$org/settings/members"
							params={{ org: organizationId }}
							underline="always"
							inherit
						>
							invite another administrator
						</TextLink>
						.
					</Text>
				)}
				<Textarea
					label="Note"
					required={hasCopiedLink && mayApprove}
					description="Why you approve or reject it. Auditors read it."
					autosize
					minRows={2}
					maxRows={8}
					value={note}
					onChange={(event) => setNote(event.currentTarget.value)}
				/>
				<Group>
					{mayApprove && (
						<Button
							onClick={() => deciding.mutate(true)}
							loading={deciding.isPending}
							disabled={hasCopiedLink && note.trim() === ""}
						>
							Approve
						</Button>
					)}
					<Button
						variant="default"
						onClick={() => deciding.mutate(false)}
						disabled={deciding.isPending}
					>
						Reject
					</Button>
				</Group>
			</Stack>
		</Paper>
	);
}
