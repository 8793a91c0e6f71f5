/** A hidden field that tells password managers whose password stands beside it. */
export function AccountName({ email }: { email: string }) {
	return (
		<input
			type="email"
			name="username"
			autoComplete="username"
			value={email}
			readOnly
			hidden
		/>
	);
}
