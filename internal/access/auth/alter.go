package auth

// MayAlter checks that a user may change what others have published or hold: messages of a queue, or messages that an
// exchange delays. Permission to read or bind is not enough: permission to publish there, or a tag, is required.
// The error is Check's.
func MayAlter(p Permissions, user User, vhost string, at Resource) error {
	if user.HasTag("administrator") || user.HasTag("policymaker") {
		return nil
	}
	if at.Kind == Queue {
		if err := p.Check(user, vhost, Resource{Kind: Exchange}, Write); err != nil {
			return err
		}
	}
	return p.Check(user, vhost, at, Write)
}
