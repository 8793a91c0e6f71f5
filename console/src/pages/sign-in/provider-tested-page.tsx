import { useSearch } from "@tanstack/react-router";
import { Card } from "./card.tsx";
import { Message } from "./message.tsx";
import { problemInWords } from "./provider.tsx";

const AS_ROLE: Record<string, string> = {
	viewer: "Without an invitation, this user would join as a viewer.",
	member: "Without an invitation, this user would join as a member.",
	admin: "Without an invitation, this user would join as an administrator.",
};

/** Opens in the tab in which an administrator has tried an identity provider. */
export function Page() {
	const { problem, why, email, role } = useSearch({ from: "/provider-tested" });
	return (
		<Card>
			{problem === undefined ? (
				<Message title="The test succeeded">
					The provider signs in {email}.{" "}
					{AS_ROLE[role ?? ""] ??
						"Without an invitation, this user would not join."}{" "}
					Close this tab, and go on in the other one.
				</Message>
			) : (
				<Message title="The test failed">
					{problemInWords(problem, why)} Then close this tab.
				</Message>
			)}
		</Card>
	);
}
