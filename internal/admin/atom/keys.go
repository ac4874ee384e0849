package atom

import (
	"fmt"
	"strings"

	"candlemark/internal/access/sas"
	"candlemark/internal/admin/entityadmin"
	"candlemark/internal/servicebus/entity"
)

const (
	authorizationRules = "AuthorizationRules"
	sharedAccess       = "SharedAccessAuthorizationRule"
)

// rights maps the rights of access keys to Service Bus's words.
var rights = map[sas.Right]string{sas.Manage: "Manage", sas.Send: "Send", sas.Listen: "Listen"}

// keys writes the access keys of an entity.
func (w *writer) keys(all []entityadmin.Key) {
	w.open(authorizationRules, "")
	for i := range all {
		k := &all[i]
		w.open("AuthorizationRule", `i:type="`+sharedAccess+`"`)
		w.text("ClaimType", "SharedAccessKey")
		w.text("ClaimValue", "None")
		w.open("Rights", "")
		for _, right := range k.Rights {
			w.text("AccessRights", rights[right])
		}
		w.shut("Rights")
		w.text("KeyName", k.Name)
		w.text("PrimaryKey", k.Primary)
		w.text("SecondaryKey", k.Secondary)
		w.shut("AuthorizationRule")
	}
	w.shut(authorizationRules)
}

// ReadKeys reads the access keys in the entry of an entity.
func ReadKeys(body []byte, kind entity.Kind) (keys []entityadmin.Key, err error) {
	from, err := described(body, descriptions[kind])
	if err != nil {
		return nil, err
	}
	all := from.child(authorizationRules)
	if all == nil {
		return nil, nil
	}
	for i := range all.Children {
		of := &all.Children[i]
		if kind := of.kind(); kind != sharedAccess {
			return nil, fmt.Errorf("%s: the type %q is not %s", authorizationRules, kind, sharedAccess)
		}
		k := entityadmin.Key{Name: of.value("KeyName"), Keys: sas.Keys{Primary: of.value("PrimaryKey"), Secondary: of.value("SecondaryKey")}}
		if list := of.child("Rights"); list != nil {
			for i := range list.Children {
				k.Rights = append(k.Rights, sas.Right(strings.ToLower(strings.TrimSpace(list.Children[i].Text))))
			}
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// value returns the text of a child, "" if there is none.
func (e *element) value(name string) string {
	if c := e.child(name); c != nil && !c.isNil() {
		return strings.TrimSpace(c.Text)
	}
	return ""
}
