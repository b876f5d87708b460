// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// libvqpcni.so is CNI's libcni for programs in C. vqpcni.h documents it.
package main

/*
#include "vqpcni.h"
*/
import "C"

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/containernetworking/cni/libcni"
	"github.com/containernetworking/cni/pkg/invoke"
	"github.com/containernetworking/cni/pkg/types"
	"github.com/containernetworking/cni/pkg/utils"
	"github.com/containernetworking/cni/pkg/version"
)

// path is where plugins find iptables and the like. The program that loads the library may have no PATH.
const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// attachment is an attachment with the arguments of libcni.
type attachment struct {
	name    string
	confDir string
	binDirs []string
	cni     *libcni.CNIConfig
	runtime *libcni.RuntimeConf
	timeout time.Duration
}

func newAttachment(a *C.struct_vqpcni_attachment) *attachment {
	binDirs := filepath.SplitList(C.GoString(a.bin_dirs))
	return &attachment{
		name:    C.GoString(a.list),
		confDir: C.GoString(a.conf_dir),
		binDirs: binDirs,
		cni:     libcni.NewCNIConfigWithCacheDir(binDirs, C.GoString(a.cache_dir), nil),
		runtime: &libcni.RuntimeConf{
			ContainerID: C.GoString(a.container),
			NetNS:       C.GoString(a.netns),
			IfName:      C.GoString(a.ifname),
		},
		timeout: time.Duration(a.timeout_s) * time.Second,
	}
}

// validate checks the names, which become parts of file names.
func (a *attachment) validate() error {
	if err := utils.ValidateContainerID(a.runtime.ContainerID); err != nil {
		return err
	}
	if err := utils.ValidateNetworkName(a.name); err != nil {
		return err
	}
	if err := utils.ValidateInterfaceName(a.runtime.IfName); err != nil {
		return err
	}
	return nil
}

// load reads the network's list from the directory of lists.
func (a *attachment) load() (*libcni.NetworkConfigList, error) {
	list, err := libcni.LoadConfList(a.confDir, a.name)
	switch err.(type) {
	case nil:
		return list, nil
	case libcni.NotFoundError, libcni.NoConfigsFoundError:
		return nil, fmt.Errorf("there is no network list %q in %s: write one, as %s",
			a.name, a.confDir, filepath.Join(a.confDir, a.name+".conflist"))
	}
	return nil, fmt.Errorf("cannot read the network lists in %s: %w", a.confDir, err)
}

// attached returns the list by which the container was attached, or nil if it was not.
func (a *attachment) attached() (*libcni.NetworkConfigList, error) {
	config, _, err := a.cni.GetNetworkListCachedConfig(&libcni.NetworkConfigList{Name: a.name}, a.runtime)
	if err != nil || config == nil {
		return nil, err
	}
	return libcni.ConfListFromBytes(config)
}

func (a *attachment) findPlugins(list *libcni.NetworkConfigList) error {
	for _, plugin := range list.Plugins {
		if _, err := invoke.FindInPath(plugin.Network.Type, a.binDirs); err != nil {
			return fmt.Errorf("network list %q: %w: install the plugin, Debian's are in containernetworking-plugins",
				a.name, err)
		}
	}
	return nil
}

// inTime calls do with a time limit, after which plugins are killed.
func (a *attachment) inTime(do func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), a.timeout)
	defer cancel()
	err := do(ctx)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("not done within %v: %w", a.timeout, err)
	}
	return err
}

// result returns the result of ADD, which libcni gives to plugins in DEL; nil if it is not known, or of too old a version.
func (a *attachment) result(list *libcni.NetworkConfigList) types.Result {
	if recent, err := version.GreaterThanOrEqualTo(list.CNIVersion, "0.4.0"); err != nil || !recent {
		return nil
	}
	result, err := a.cni.GetNetworkListCachedResult(list, a.runtime)
	if err != nil {
		return nil
	}
	return result
}

// detachOne runs DEL of one plugin of a list, without libcni's noting the end of the attachment.
func (a *attachment) detachOne(list *libcni.NetworkConfigList, plugin *libcni.NetworkConfig, result types.Result) error {
	if result != nil {
		var err error
		plugin, err = libcni.InjectConf(plugin, map[string]interface{}{"prevResult": result})
		if err != nil {
			return err
		}
	}
	part := *list
	part.Plugins = []*libcni.NetworkConfig{plugin}
	cni := libcni.NewCNIConfigWithCacheDir(a.binDirs, os.DevNull, nil)
	return a.inTime(func(ctx context.Context) error { return cni.DelNetworkList(ctx, &part, a.runtime) })
}

// detach runs DEL of all plugins of a list, each with a time limit of its own, while DelNetworkList would end with the
// first that fails or hangs. libcni's record of the attachment is kept until all have succeeded.
func (a *attachment) detach(list *libcni.NetworkConfigList) error {
	var first error
	result := a.result(list)
	for i := len(list.Plugins) - 1; i >= 0; i-- {
		if err := a.detachOne(list, list.Plugins[i], result); err != nil && first == nil {
			first = err
		}
	}
	if first == nil {
		first = a.forget()
	}
	return first
}

// forget removes libcni's record of the attachment, by DEL of a list without plugins, of a version without results.
func (a *attachment) forget() error {
	nothing := libcni.NetworkConfigList{Name: a.name, CNIVersion: "0.3.1"}
	return a.cni.DelNetworkList(context.Background(), &nothing, a.runtime)
}

func (a *attachment) add() (string, error) {
	list, err := a.load()
	if err == nil {
		err = a.findPlugins(list)
	}
	if err != nil {
		return "", err
	}
	if err = a.deleteLost(list); err != nil {
		return "", err
	}
	var result types.Result
	err = a.inTime(func(ctx context.Context) (err error) {
		result, err = a.cni.AddNetworkList(ctx, list, a.runtime)
		return err
	})
	if err != nil {
		return "", a.undo(list, fmt.Errorf("network list %q: %w", a.name, err))
	}
	text, err := json.Marshal(result)
	return string(text), err
}

// deleteLost detaches a container that libcni has a record of before it is attached: the record has outlived a crash,
// which the network namespace has not. If the crash has cut the record short, the present list is used.
func (a *attachment) deleteLost(list *libcni.NetworkConfigList) error {
	lost, err := a.attached()
	if err != nil {
		lost = list
	}
	if lost == nil {
		return nil
	}
	now := a.runtime.NetNS
	a.runtime.NetNS = ""
	defer func() { a.runtime.NetNS = now }()
	if err = a.detach(lost); err != nil {
		return fmt.Errorf("network list %q: cannot delete what an earlier container %s left: %w",
			a.name, a.runtime.ContainerID, err)
	}
	return nil
}

func (a *attachment) undo(list *libcni.NetworkConfigList, reason error) error {
	if err := a.detach(list); err != nil {
		return fmt.Errorf("%w; and undoing it: %v", reason, err)
	}
	return reason
}

func (a *attachment) check() (string, error) {
	list, err := a.attached()
	if err != nil {
		return "", err
	}
	if list == nil {
		return "", fmt.Errorf("container %s is not attached to network list %q", a.runtime.ContainerID, a.name)
	}
	return "", a.inTime(func(ctx context.Context) error { return a.cni.CheckNetworkList(ctx, list, a.runtime) })
}

func (a *attachment) del() (string, error) {
	list, err := a.attached()
	if err != nil || list == nil {
		list, err = a.load()
	}
	if err != nil {
		return "", err
	}
	return "", a.detach(list)
}

// call makes a call from C, which must not end the caller by a panic.
func call(c *C.struct_vqpcni_attachment, text **C.char,
	do func(a *attachment) (string, error)) (status C.int) {
	defer func() {
		if fault := recover(); fault != nil {
			*text = C.CString(fmt.Sprint(fault))
			status = -1
		}
	}()
	a := newAttachment(c)
	answer, err := "", a.validate()
	if err == nil {
		answer, err = do(a)
	}
	if err != nil {
		*text = C.CString(err.Error())
		return -1
	}
	*text = C.CString(answer)
	return 0
}

//export vqpcni_add
func vqpcni_add(c *C.struct_vqpcni_attachment, text **C.char) C.int {
	return call(c, text, (*attachment).add)
}

//export vqpcni_check
func vqpcni_check(c *C.struct_vqpcni_attachment, text **C.char) C.int {
	return call(c, text, (*attachment).check)
}

//export vqpcni_del
func vqpcni_del(c *C.struct_vqpcni_attachment, text **C.char) C.int {
	return call(c, text, (*attachment).del)
}

func init() {
	os.Clearenv()
	os.Setenv("PATH", path)
}

func main() {}
