import { Button, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { request } from "../../api.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Card } from "../sign-in/card.tsx";
import { useLinkToken } from "../sign-in/link.ts";

interface Choice {
	kind: "DEVICE_DIGEST" | "OVERDUE_WORK" | "COMMENTS";
	is_stopped: boolean;
}

const MAILS: Record<Choice["kind"], string> = {
	DEVICE_DIGEST: "weekly mails about your devices",
	OVERDUE_WORK: "weekly mails about overdue work",
	COMMENTS: "mails about comments",
};

/**
 * Stops mails of a kind, or starts them again. The link in the mail is the proof, so nobody signs in.
 */
export function Page() {
	const token = useLinkToken();
	const choosing = useMutation({
		mutationFn: (is_stopped: boolean) =>
			request<Choice>("/api/stop-mails/choice", {
				body: { token, is_stopped },
			}),
	});
	const { data } = choosing;
	return (
		<Card>
			<PageHeader title="Mails" />
			<Stack>
				{choosing.isError && (
					<ErrorState error={choosing.error} title="Nothing was changed" />
				)}
				<Text role="status">
					{data
						? `You get ${data.is_stopped ? "no more" : "the"} ${MAILS[data.kind]}.`
						: "You get these mails because you own devices or work in this organization, or watch records. What you own stays yours."}
				</Text>
				{data?.is_stopped ? (
					<Button
						variant="default"
						loading={choosing.isPending}
						onClick={() => choosing.mutate(false)}
					>
						Start these mails again
					</Button>
				) : (
					<Button
						loading={choosing.isPending}
						onClick={() => choosing.mutate(true)}
					>
						Stop these mails
					</Button>
				)}
			</Stack>
		</Card>
	);
}
